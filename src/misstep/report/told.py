"""What a test came to, as text for whoever has no terminal of ours: failures of tests, notebooks, logs."""

from collections.abc import Sequence
from io import StringIO

import msgspec
from rich.console import Console, RenderableType

from misstep.core.difficulty import Difficulty
from misstep.core.finding import FuzzReport
from misstep.core.outcome import Outcome
from misstep.core.summary import Summary
from misstep.report.case import case_view
from misstep.report.findings import fuzz_view
from misstep.report.layout import Trimmed
from misstep.report.terminal import counted, summary_table

WIDTH = 100


class Again(msgspec.Struct, frozen=True):
    """How to look into a run: `show` is all of it; a case once more stands between `before` and `after`."""

    show: str
    before: str
    after: str = ""

    def one(self, name: str) -> str:
        return f"{self.before}{name}{self.after}"


def planning_text(summary: Summary, shown: Sequence[tuple[Outcome, Difficulty]], again: Again) -> str:
    """Counts and rate, the first cases that did not pass, and what to type next."""
    parts = [as_text(summary_table(summary))]
    for outcome, difficulty in shown:
        parts += [as_text(case_view(outcome, difficulty)), f"again: {again.one(outcome.case.id)}"]
    if rest := summary.cases - summary.passed - len(shown):
        parts.append(f"{counted(rest, 'more case')} did not pass")
    return "\n\n".join([*parts, f"all of it: {again.show}"])


def tools_text(report: FuzzReport, again: Again) -> str:
    """A line for each tool, then each finding with its smallest reproducer."""
    commands = [f"  again: {again.one(finding.id)}" for finding in (*report.findings, *report.unconfirmed)]
    # A command is no use in two halves.
    width = max(WIDTH, *map(len, commands)) if commands else WIDTH
    return as_text(fuzz_view(report, again.before.removesuffix("/"), again.after), width)


def as_text(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colours, in lines that fit anywhere."""
    written = StringIO()
    Console(file=written, width=width, color_system=None, legacy_windows=False).print(Trimmed(view))
    return written.getvalue().strip("\n")
