"""Every command with what it takes, as the parser knows it."""

import inspect
from collections.abc import Iterator

import click

from misstep.cli import cli
from misstep.core.settings.reading import FIELDS, help_text
from tests.reference.tables import table


def every_command() -> str:
    return "\n\n".join(section(name, command) for name, command in commands(cli, "misstep"))


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def section(name: str, command: click.Command) -> str:
    """A command: what it is for, options that are its own, settings that it takes."""
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    words = " ".join([name, *(usage(each) for each in arguments)])
    options = [each for each in command.params if isinstance(each, click.Option)]
    plain = [each for each in options if is_plain_setting(each)]
    own = [each for each in options if each not in plain]
    parts = [f"### {name}", f"`{words}`", inspect.cleandoc(command.help or "").replace("\b\n", "")]
    if own:
        parts.append(table(("option", "meaning"), [(spelled(each), each.help or "") for each in own]))
    if plain:
        parts.append("Settings: " + " ".join(f"`{each.opts[-1]}`" for each in plain))
    return "\n\n".join(parts)


def usage(argument: click.Argument) -> str:
    name = (argument.metavar or argument.name or "").upper().removesuffix("...")
    shown = name + ("…" if argument.nargs == -1 else "")
    return shown if argument.required else f"[{shown}]"


def spelled(option: click.Option) -> str:
    """An option with what it takes."""
    kind = option.type.name.upper()
    takes = "" if option.is_flag else f" {option.metavar or kind}"
    return f"`{', '.join(option.opts)}{takes}`"


def is_plain_setting(option: click.Option) -> bool:
    """Whether the table of settings says all there is to say about it."""
    return option.name in FIELDS and (option.help or "").startswith(help_text(option.name))
