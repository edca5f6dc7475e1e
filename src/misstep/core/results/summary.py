"""The summary of a planning run: counts, success rate, interval, chance level."""

from collections.abc import Mapping

import msgspec

from misstep.core.case import Baselines
from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, ErrorKind, Outcome, Usage
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import Settings
from misstep.core.stats import wilson


class Summary(msgspec.Struct, frozen=True):
    """What `--json` prints. Only passed and failed cases enter `success`, which is null if there are none.

    `chance` is the mean chance level of the same cases; `baselines` are the success rates of two agents that
    don't plan. `usd` is null if the price of tokens is unknown.
    """

    run: str
    agent: str
    model: str | None
    cases: int
    passed: int
    failed: int
    inconclusive: int
    errored: int
    errors: Mapping[ErrorKind, int]
    success: float | None
    interval: tuple[float, float]
    chance: float | None
    calls: int
    tokens: Usage
    usd: float | None
    seconds: float
    baselines: Baselines | None = None


class Run(msgspec.Struct, frozen=True):
    """A stored run; it has a summary once it has finished.

    `done` counts outcomes, or tool reports that were not cut short. `total` is 0 if the campaign decides
    during the run how many cases there are.
    """

    id: str
    started: float
    total: int
    done: int
    settings: Settings
    summary: Summary | None
    digest: bytes = b""  # of all cases, if they were known in advance
    purpose: RunSpec = TESTING
    name: str = ""
    tags: tuple[str, ...] = ()


class ListedRun(msgspec.Struct, frozen=True):
    """A run, and whether a process works on it now."""

    run: Run
    live: bool


class RunView(ListedRun, frozen=True):
    """What a run came to, from which everything that shows it is made.

    The summary is the one so far; `failures` are some of the outcomes that did not pass.
    """

    summary: Summary
    failures: tuple[Outcome, ...] = ()


class Tally:
    """Counts outcomes as they arrive and stores none of them."""

    def __init__(self) -> None:
        self.verdicts = dict.fromkeys(JUDGEMENTS, 0)
        self.errors = dict.fromkeys(ERROR_KINDS, 0)
        self.calls = 0
        self.usage = Usage()
        self.seconds = 0.0  # total time of cases, which may run concurrently
        self.chances = 0.0  # sum over the judged cases
        self.text_order = self.ignores_family = 0.0  # how many of them these baselines pass
        self.compared = 0  # for how many the baselines are known

    @property
    def cases(self) -> int:
        return sum(self.verdicts.values())

    @property
    def judged(self) -> int:
        return self.verdicts["passed"] + self.verdicts["failed"]

    @property
    def baselines(self) -> Baselines | None:
        if not self.compared:
            return None
        shares = [round(passed / self.compared, 9) for passed in (self.text_order, self.ignores_family)]
        return Baselines(*shares)

    def add(self, outcome: Outcome) -> None:
        self.verdicts[outcome.verdict.verdict] += 1
        if outcome.verdict.error:
            self.errors[outcome.verdict.error] += 1
        if outcome.verdict.verdict in ("passed", "failed"):
            self.chances += outcome.case.chance or 0.0
            if outcome.baselines:
                self.text_order += outcome.baselines.text_order
                self.ignores_family += outcome.baselines.ignores_family
                self.compared += 1
        self.seconds += outcome.seconds
        self.calls += len(outcome.transcript.calls)
        self.usage += outcome.transcript.usage

    def __add__(self, other: "Tally") -> "Tally":
        total = Tally()
        total.verdicts = {name: count + other.verdicts[name] for name, count in self.verdicts.items()}
        total.errors = {kind: count + other.errors[kind] for kind, count in self.errors.items()}
        for name in ("calls", "usage", "seconds", "chances", "text_order", "ignores_family", "compared"):
            setattr(total, name, getattr(self, name) + getattr(other, name))
        return total

    def seen(self, outcome: Outcome) -> Outcome:
        self.add(outcome)
        return outcome

    def summary(self, run: str, agent: str, model: str | None = None, usd: float | None = None) -> Summary:
        passed, judged = self.verdicts["passed"], self.judged
        return Summary(
            run=run,
            agent=agent,
            model=model,
            cases=self.cases,
            **self.verdicts,
            errors=dict(self.errors),
            success=passed / judged if judged else None,
            interval=wilson(passed, judged),
            # Rounded, so that the result does not depend on the order in which outcomes arrived.
            chance=round(self.chances / judged, 9) if judged else None,
            calls=self.calls,
            tokens=self.usage,
            usd=usd,
            seconds=round(self.seconds, 3),
            baselines=self.baselines,
        )
