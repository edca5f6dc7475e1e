"""Shell completion: the scripts for bash, zsh and fish, and the values of options and arguments."""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from misstep.cli.help import command

VARIABLE = "_MISSTEP_COMPLETE"
MOST = 50
Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


@command(
    "completion",
    "misstep completion bash >> ~/.bashrc",
    "misstep completion fish > ~/.config/fish/completions/misstep.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print a completion script for your shell."""
    found = get_completion_class(shell)
    assert found
    script = found(context.find_root().command, {}, "misstep", VARIABLE).source()
    # Agents are written file.py:name, and bash would take the colon for the end of a word.
    click.echo(f"COMP_WORDBREAKS=${{COMP_WORDBREAKS//:}}\n{script}" if shell == "bash" else script)
    return 0


def answer_shell(root: click.Command) -> int:
    """Answer the completion script that set the variable."""
    return shell_complete(root, {}, "misstep", VARIABLE, os.environ[VARIABLE])


def from_values(values: Iterable[str]) -> Complete:
    """Complete one of these, also as the last of several separated by commas."""
    offered = list(values)

    def complete(_: click.Context, __: click.Parameter, word: str) -> "list[CompletionItem[str]]":
        before, comma, part = word.rpartition(",")
        return [CompletionItem(f"{before}{comma}{value}") for value in offered if value.startswith(part)]

    return complete


def from_paths(kind: str) -> Complete:
    """Let the shell complete a `file` or `dir`."""
    return lambda _, __, word: [CompletionItem(word, type=kind)]


def complete_agents(_: click.Context, __: click.Parameter, word: str) -> "list[CompletionItem[str]]":
    """Agents in the Python files of this folder, built-in and simulated ones."""
    from misstep.planning.simulated.planners import PLANNERS
    from misstep.runs.setup.agents import PARADIGMS

    files = sorted(path for path in Path().glob("*.py") if path.name.isprintable())
    known = [*(each for path in files for each in _agents_in(path)), *PARADIGMS]
    known += [f"sim:{name}" for name in PLANNERS]
    return [CompletionItem(name) for name in known if name.startswith(word)]


def _agents_in(path: Path) -> list[str]:
    from misstep.adapters.loading.candidates import candidates_in
    from misstep.errors import UsageError

    try:
        return [f"{path.name}:{each.name}" for each in candidates_in(path) if each.kind == "agent"]
    except UsageError:
        return []


def complete_runs(context: click.Context, _: click.Parameter, word: str) -> "list[CompletionItem[str]]":
    """The newest runs; after RUN/ the cases of it that failed."""
    from misstep.errors import MisstepError
    from misstep.runs import lookup
    from misstep.runs.setup.configuration import load_settings

    found: list[tuple[str, str]]
    try:
        settings = load_settings(Path.cwd())
        if store := context.params.get("store"):
            settings = settings.overlay({"store": store})
        if "/" in word:
            run = word.split("/", 1)[0]
            failures = lookup.view_run(settings, run, MOST).failures
            found = [(f"{run}/{each.case.id}", each.verdict.error or "") for each in failures]
        else:
            runs, _total = lookup.list_runs(settings, MOST)
            found = [("last", "newest run"), *((each.run.id, each.run.purpose.command) for each in runs)]
    except (MisstepError, OSError):
        return []
    # Ids of cases come from files: shells would split or expand others.
    plain = [(name, about) for name, about in found if re.fullmatch(r"[\w./:@%+-]+", name)]
    return [CompletionItem(name, help=about) for name, about in plain if name.startswith(word)]
