"""Help texts: every summary is whole, and every option speaks of its own command."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from misstep.cli import cli
from misstep.cli.help import MisstepCommand


def groups(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from groups(command, (*path, name))


def context_of(command: click.Command, name: str) -> click.Context:
    """A context like that of the program: commands remember the help option of their first one."""
    return click.Context(command, info_name=name, terminal_width=80, **cli.context_settings)


def help_of(command: click.Command, name: str = "misstep") -> str:
    return command.get_help(context_of(command, name))


def summaries(group: click.Group) -> list[str]:
    """The lines of help that name a command."""
    names = group.list_commands(click.Context(group))
    return [
        line for line in help_of(group).splitlines() if line.startswith("  ") and line.split()[0] in names
    ]


def commands(group: click.Group = cli, path: str = "misstep") -> Iterator[tuple[str, MisstepCommand]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            assert isinstance(command, MisstepCommand)
            yield f"{path} {name}", command


EVERY = pytest.mark.parametrize(("path", "command"), [pytest.param(*each, id=each[0]) for each in commands()])


@pytest.mark.parametrize(
    ("path", "group"), list(groups()), ids=lambda each: "-".join(each) if isinstance(each, tuple) else ""
)
def test_no_summary_is_cut_off(path: tuple[str, ...], group: click.Group) -> None:
    lines = summaries(group)
    assert len(lines) == len(group.list_commands(click.Context(group)))  # none takes two lines
    for line in lines:
        assert line.endswith("."), line
        assert not line.endswith(("...", "Fig.")), line


def options_in(text: str) -> list[str]:
    """The options that help lists, by their last name."""
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text.split("\nOptions:\n")[1], re.M)


@EVERY
def test_help_shows_the_options_that_matter_and_help_all_the_rest(path: str, command: MisstepCommand) -> None:
    context = context_of(command, path)
    own = {each.opts[-1] for each in command.get_params(context) if isinstance(each, click.Option)}
    short = options_in(command.get_help(context))
    assert len(short) <= 15, short
    assert not {*command.shown} - {each.name for each in command.params}
    assert bool(command.shown) == ("--help-all" in short)
    if command.shown:
        done = CliRunner().invoke(command, ["--help-all"])
        assert done.exit_code == 0
        assert sorted(options_in(done.output)) == sorted(own)  # each once
    else:
        assert sorted(short) == sorted(own)


@EVERY
def test_every_command_has_two_examples_that_it_accepts(path: str, command: MisstepCommand) -> None:
    assert len(command.examples) >= 2
    for example in command.examples:
        assert len(example) <= 90
        words = shlex.split(example.split(" >")[0])
        assert " ".join(words[: len(path.split())]) == path
        command.make_context(path, words[len(path.split()) :])


def test_options_of_repair_speak_of_requests_and_not_of_cases() -> None:
    context = click.Context(cli)
    plan = cli.get_command(context, "plan")
    assert isinstance(plan, click.Group)
    repair = plan.get_command(context, "repair")
    assert repair is not None
    text = help_of(repair)
    for foreign in ("case", "problem", "agent", "a run"):
        assert foreign not in text


@pytest.mark.parametrize(
    ("path", "group"), list(groups()), ids=lambda each: "-".join(each) if isinstance(each, tuple) else ""
)
def test_summaries_are_those_of_the_commands(path: tuple[str, ...], group: click.Group) -> None:
    context, shown = click.Context(group), "\n".join(summaries(group))
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert f"  {name} " in shown
        assert f" {command.get_short_help_str(200)}\n" in shown + "\n"


def loaded(*command: str) -> set[str]:
    """The modules that a command loads, in a process of its own."""
    code = "import sys; from misstep.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    arguments = [sys.executable, "-c", code, *command]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return {*done.stderr.split()}


@pytest.mark.parametrize("group", [[], ["plan"], ["tool"], ["bench"], ["paper"], ["mcp"]], ids=" ".join)
def test_help_loads_nothing_that_carries_out_commands(group: list[str]) -> None:
    modules = loaded(*group, "--help")
    assert "misstep.cli.commands" in modules
    assert not modules & {
        "sqlite3",
        "rich",
        "asyncio",
        "msgspec",
        "misstep.features.plan_test.run",
        "misstep.store.runs",
    }


def test_a_simulated_agent_needs_no_proxy_and_no_cluster(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    modules = loaded("plan", "test", "--agent", "sim:perfect", "--count", "1", "--store", store, "--json")
    assert "misstep.planning.simulated.planners" in modules
    for unneeded in (
        "misstep.adapters.proxy",
        "misstep.engine.ray",
        "misstep.models.local",
        "misstep.web",
        "ray",
        "xllamacpp",
    ):
        assert not [each for each in modules if each == unneeded or each.startswith(f"{unneeded}.")]
