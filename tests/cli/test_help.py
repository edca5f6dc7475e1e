"""Help texts: every summary is whole, and every option speaks of its own command."""

from collections.abc import Iterator

import click
import pytest

from misstep.cli import cli


def groups(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from groups(command, (*path, name))


def help_of(command: click.Command, name: str = "misstep") -> str:
    return command.get_help(click.Context(command, info_name=name, terminal_width=80))


@pytest.mark.parametrize(
    ("path", "group"), list(groups()), ids=lambda each: "-".join(each) if isinstance(each, tuple) else ""
)
def test_no_summary_is_cut_off(path: tuple[str, ...], group: click.Group) -> None:
    summaries = help_of(group).split("Commands:\n")[1].splitlines()
    assert len(summaries) == len(group.list_commands(click.Context(group)))  # none takes two lines
    for summary in summaries:
        assert summary.endswith("."), summary
        assert not summary.endswith(("...", "Fig.")), summary


def test_options_of_repair_speak_of_requests_and_not_of_cases() -> None:
    context = click.Context(cli)
    plan = cli.get_command(context, "plan")
    assert isinstance(plan, click.Group)
    repair = plan.get_command(context, "repair")
    assert repair is not None
    text = help_of(repair)
    for foreign in ("case", "problem", "agent", "a run"):
        assert foreign not in text
