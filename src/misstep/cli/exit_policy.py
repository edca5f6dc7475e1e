"""Decides whether a command has passed, for its exit code and its reports."""

import sys
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from misstep.cli.output import INCONCLUSIVE
from misstep.core.results.comparison import Held
from misstep.core.settings import RunSettings
from misstep.core.settings.reading import parse_gate
from misstep.errors import UsageError
from misstep.rendering.comparison import baseline_sentence, held_as_json
from misstep.rendering.terminal import counted, percent
from misstep.store.location import way_to


def exit_code(settings: RunSettings, passed: int, total: int) -> int:
    """0 if enough have passed for `--fail-on`, or if it is not given.

    If there are no cases, nothing has failed, but a required pass rate has not been shown to be reached.
    """
    exit_policy = settings.fail_on or "any"
    demanded = parse_gate(exit_policy)
    if demanded and not total:
        return int(exit_policy != "any")
    # Divide, because that is how the rate was written: 0.07 * 100 is slightly more than 7.
    return int(demanded is not None and total > 0 and passed / total < demanded)


class CommandResult(msgspec.Struct, frozen=True):
    """How a command ends: its exit code, and the comparison with the baseline if there is one.

    `why` describes the gates that failed.
    """

    code: int
    held: Held | None = None
    why: tuple[str, ...] = ()

    @classmethod
    def by_gate(cls, settings: RunSettings, passed: int, total: int) -> "CommandResult":
        code = exit_code(settings, passed, total)
        if not settings.fail_on or not code:
            return cls(code)
        rate = f"{passed} of {total} passed ({percent(passed / total)})" if total else "nothing was judged"
        asked = percent(parse_gate(settings.fail_on))
        return cls(code, why=(f"--fail-on {settings.fail_on} failed: {rate}, required: {asked}",))

    def leave(self) -> int:
        """Print a line for each gate that failed, and return the exit code."""
        sys.stdout.flush()
        for line in self.why:
            print(line, file=sys.stderr)
        return self.code

    def added_to(self, summary: dict[str, Any]) -> dict[str, Any]:
        return {**summary, "baseline": held_as_json(self.held)} if self.held else summary

    def show(self, console: Console) -> None:
        """Print a line about the baseline below everything else."""
        if self.held:
            style = "bold red" if self.held.regressed else "bold"
            console.print(Text(f"\n{baseline_sentence(self.held)}", style=style), soft_wrap=True)


class ExitPolicy:
    """What a run must pass: the rate given by `--fail-on`, and no regression from `--baseline`.

    With a baseline, other failures are accepted unless `--fail-on` is given. The baseline is looked up before
    the run starts, so that `last` is not the run itself; `own` is the run if it has already ended.
    """

    def __init__(self, settings: RunSettings, verb: str, own: str = "") -> None:
        self._settings = settings
        self._baseline: str | None = None
        if settings.baseline:
            from misstep.runs.compare import find_baseline

            self._baseline = find_baseline(settings, verb, own or settings.resume)
            self._settings = settings.overlay({"fail_on": settings.fail_on or "none"})

    def close(self, run: str, passed: int, total: int, unknown: int = 0) -> CommandResult:
        """The result of the command; `unknown` counts what is in no total because it could not be judged.

        If there is any, the exit code is a separate one, unless something else failed or no gate is set.
        """
        ending = CommandResult.by_gate(self._settings, passed, total)
        if not ending.code and unknown and self._settings.fail_on != "none":
            ending = CommandResult(
                INCONCLUSIVE, why=(f"inconclusive: {counted(unknown, 'tool')} not judged",)
            )
        if self._baseline is None:
            return ending
        from misstep.runs.compare import hold_against

        try:
            held = hold_against(self._settings, self._baseline, run)
        except UsageError as error:
            show = f"the results are stored: misstep show {run}{way_to(self._settings.store)}"
            raise UsageError(error.message, *error.hints, show, where=error.where) from error
        if not held.regressed:
            return msgspec.structs.replace(ending, held=held)
        return CommandResult(
            1, held, (*ending.why, f"--baseline {self._baseline} failed: {baseline_sentence(held)}")
        )
