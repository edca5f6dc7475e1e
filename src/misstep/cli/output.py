"""Writes to standard output, and protects it and the exit code from agents."""

import json
import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import msgspec
from rich.console import Console

from misstep.cli.screen import Diversion, Screen
from misstep.core.agent import AGENT_THREAD
from misstep.core.event import Estimate
from misstep.core.results.report import LeftOut
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, CheckSettings, OutputSettings, RunSettings
from misstep.errors import UsageError
from misstep.rendering.terminal import estimate_table
from misstep.rendering.text import plain

INCONCLUSIVE = 4  # no failure was found, but something was not tested or could not be judged


@contextmanager
def no_way_out() -> Iterator[None]:
    """Make `os._exit` in an agent end only its caller; the exit code would be taken for ours.

    Child processes that agents fork may still exit.
    """
    real, ours = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != ours:
            real(status)
        raise SystemExit(f"os._exit({status}) was called")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = real


def print_json(value: msgspec.Struct | dict[str, Any]) -> None:
    """Print one JSON object and nothing else."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def print_json_text(value: object) -> None:
    """The same for plain values with content that other encoders refuse, such as lone surrogates."""
    sys.stdout.buffer.write(json.dumps(value, ensure_ascii=True).encode() + b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def own_output() -> Iterator[Screen]:
    """While an agent runs, send its output to standard error, escaped and limited.

    `os._exit` in an agent does not end the run. We write to the screen that is returned. Agents that could
    not be stopped may print later, so both streams stay protected from them.
    """
    before = set(threading.enumerate())
    diversion = Diversion()
    try:
        with no_way_out():
            yield diversion.screen
    finally:
        new = set(threading.enumerate()) - before
        if any(thread.name == AGENT_THREAD for thread in new):
            diversion.end_for_us()
        else:
            diversion.end()


def announce(settings: OutputSettings, estimate: Callable[[], tuple[AgentRunSettings, Estimate]]) -> int:
    """Print the estimate of a run and its settings, which is all that a dry run does."""
    with own_output():
        own, expected = estimate()
    if settings.json:
        print_json(expected)
    else:
        Console().print(estimate_table(expected, own))
    return 0


def spare_inputs(settings: CheckSettings, result: str, store: str = "") -> None:
    """Refuse to overwrite the files that the result is made from."""
    for name in (settings.cases, settings.plans, store.removeprefix("sqlite:///")):
        both = not to_stdout(settings) and os.path.exists(settings.out) and os.path.exists(name)
        if both and os.path.samefile(settings.out, name):
            raise UsageError(
                f"would be overwritten by the {result}", "name another file", where=f"--out {name}"
            )


def one_output(settings: OutputSettings, what: str) -> None:
    """Refuse to print both a summary and its subject to standard output."""
    if settings.json and to_stdout(settings):
        raise UsageError(f"--json and the {what} can't both go to standard output", "name a file with --out")


def sum_up(settings: OutputSettings, summary: msgspec.Struct, lines: list[str]) -> None:
    """Print the summary as JSON, or as lines on standard error if standard output is used otherwise."""
    if settings.json:
        print_json(summary)
    else:
        print("\n".join(lines), file=sys.stderr)


def subject(settings: RunSettings, run: str | None, what: str) -> str:
    """The run that a command is about; a resumed run knows it itself."""
    if settings.resume and run:
        raise UsageError(f"{run} can't be combined with --resume", "a resumed run has its own arguments")
    if not settings.resume and not run:
        raise UsageError("no run was given", f"name {what}; misstep runs lists runs")
    return run or ""


def check_specs(settings: RunSettings, specs: tuple[str, ...]) -> None:
    """Check that tools are given, or that the run to be resumed knows them."""
    if settings.resume and specs:
        raise UsageError(f"{specs[0]} can't be combined with --resume", "a resumed run has its own tools")
    if not settings.resume and not specs:
        raise UsageError("no tools were given", "name them as file.py:name, mcp:COMMAND or mcp.json")


def to_report(settings: OutputSettings) -> bool:
    return bool(settings.report) and settings.report_dir == "-"


def to_stdout(settings: OutputSettings) -> bool:
    return settings.out in ("", "-")


def hint(console: Console, text: str, gap: bool = True) -> None:
    """Print what to do next, on a line of its own."""
    console.print(("\n" if gap else "") + text, style="dim", highlight=False, markup=False, soft_wrap=True)


def point_to_page(console: Console, run: str, place: str) -> None:
    """Suggest the HTML page where there is no better next step."""
    hint(console, f"Report: misstep report {run}{place}")


def case_words(run: str, case: str) -> str:
    """A run and a case as shell arguments; one argument if the case would look like an option."""
    return quoted(f"{run}/{case}") if case.startswith("-") else f"{run} {quoted(case)}"


def quoted(name: str) -> str:
    return shlex.quote(plain(name))


def own_command(purpose: RunSpec, name: str) -> Callable[..., Any] | None:
    """A function of the feature's command module for a stored run, if it has one.

    `show_stored(settings, run, most)` shows what the run found, `show_part(settings, run, part)` a part of
    it, `replay_part(settings, run, part)` runs a part again and returns the exit code, `issues(settings, run,
    part)` yields ids and texts for a bug tracker.
    """
    module = import_module(f"{purpose.kind.feature}.command")
    return getattr(module, name, None)


def curve_command(name: str) -> Callable[..., Any]:
    """A function of the capability feature, for a curve that is stored in a file and so has no run."""
    command: Callable[..., Any] = getattr(import_module("misstep.features.capability.command"), name)
    return command


_REASONS: Mapping[LeftOut, str] = {
    "errored": "errored",
    "inconclusive": "inconclusive",
    "unsolved": "without a known correct plan",
    "faultless": "with no wrong call",
    "stepwise": "whose calls depend on earlier results",
}


def left_out_lines(counts: Mapping[LeftOut, int]) -> list[str]:
    told = [f"{count} {_REASONS[reason]}" for reason, count in counts.items()]
    return [f"left out: {', '.join(told)}"] if told else []
