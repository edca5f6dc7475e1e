"""How far a run is, for whoever shows it."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from misstep.core.event import (
    CaseFinished,
    GroupFinished,
    RunStarted,
    Spending,
    TaskJudged,
    ToolChecked,
    ToolFinished,
    ToolMended,
    Unit,
)
from misstep.core.pace import Pace
from misstep.core.verdict import JUDGEMENTS, Judgement
from misstep.report.estimate import duration
from misstep.report.spending import spending_in_words

Finished: TypeAlias = CaseFinished | ToolFinished | ToolChecked | GroupFinished | TaskJudged | ToolMended


class ProgressSoFar:
    """What a display is told of: counts by verdict, the pace, what has been spent."""

    def __init__(self, started: RunStarted | None, clock: Callable[[], float]) -> None:
        verdicts: Mapping[Judgement, int] = started.verdicts if started else {}
        self.total = started.total if started else 0
        self._unit: Unit = started.unit if started else "case"
        self._counts = {name: verdicts.get(name, 0) for name in JUDGEMENTS}
        self._pace = Pace(self.done, clock)
        self._calls = Pace(0, clock)
        self._spending: Spending | None = None

    @property
    def done(self) -> int:
        return sum(self._counts.values())

    def add(self, event: Finished) -> None:
        self._counts[_verdict(event)] += 1
        self._pace.reach(self.done)

    def spend(self, event: Spending) -> None:
        if self._spending is None:
            self._calls = Pace(event.used.calls, self._calls.clock)
        self._spending = event
        self._calls.reach(event.used.calls)

    @property
    def counts(self) -> str:
        return "  ".join(
            f"{name} {count}" for name, count in self._counts.items() if count or name in ("passed", "failed")
        )

    @property
    def rate(self) -> str:
        """Tools are few and slow to finish: what gets on there is calls."""
        pace, what = (self._calls, "call") if self._unit == "tool" else (self._pace, self._unit)
        return f"{_rounded(pace.rate)} {what}s/s" if pace.rate else ""

    @property
    def left(self) -> str:
        """How long it will take, or may, whichever is less."""
        known = [self._pace.left(self.total)] if self.total > self.done else []
        if self._spending and (limit := self._spending.budget.seconds) is not None:
            known.append(max(0.0, limit - self._spending.used.seconds))
        seconds = [each for each in known if each is not None]
        return f"{duration(min(seconds))} left" if seconds and self.rate else ""

    @property
    def spent(self) -> str:
        return spending_in_words(self._spending.used, self._spending.budget) if self._spending else ""


def _rounded(rate: float) -> str:
    """A number with two figures at least, and no more than it takes."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}" if rate >= 1 else f"{rate:.2f}"


def _verdict(event: Finished) -> Judgement:
    """A tool passes if it has no defect that was found."""
    if isinstance(event, CaseFinished):
        return event.outcome.verdict.verdict
    if isinstance(event, GroupFinished):
        return event.verdict
    if isinstance(event, ToolChecked | TaskJudged | ToolMended):
        return event.report.verdict
    return "failed" if event.report.findings else "passed"
