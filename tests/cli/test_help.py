"""Help texts: every summary is whole, and every option speaks of its own command."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


@pytest.mark.parametrize(
    ("path", "group"), list(groups()), ids=lambda each: "-".join(each) if isinstance(each, tuple) else ""
)
def test_summaries_are_those_of_the_commands(path: tuple[str, ...], group: click.Group) -> None:
    context, shown = click.Context(group), help_of(group).split("Commands:\n")[1]
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
        "sqlalchemy",
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
