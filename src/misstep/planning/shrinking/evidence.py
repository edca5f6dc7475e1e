"""Decides whether a case fails about as often as another one, with as few runs as possible."""

from collections import defaultdict
from collections.abc import Generator, Sequence
from math import log
from typing import TypeAlias

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import ErrorKind, Outcome
from misstep.planning.variation.anatomy import again

NOISE = 0.25  # of the required rate: what fails no more often fails for another reason
FALSE_ALARM = 0.05  # how often that may be mistaken for the failure looked for
MOST_BROKEN = 3  # runs without a verdict before a case is given up


class TrialCounts(msgspec.Struct, frozen=True):
    """How often a case failed in the way looked for, did not, and got no verdict."""

    failed: int = 0
    passed: int = 0
    broken: int = 0

    @property
    def tried(self) -> int:
        return self.failed + self.passed

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        return TrialCounts(self.failed + other.failed, self.passed + other.passed, self.broken + other.broken)


class Yardstick(msgspec.Struct, frozen=True):
    """The rate at which a case has to fail, and the probability of recognising one that does.

    If the rate is 1, one run decides. Below that a single failure may be noise, and the decision is Wald's
    sequential test of this rate against a fraction of it.
    """

    rate: float
    confidence: float

    def decide(self, trials: TrialCounts) -> bool | None:
        """Whether a case fails that often; None while undecided."""
        if trials.broken > MOST_BROKEN:
            return False
        if self.rate == 1:
            return trials.passed == 0 if trials.tried else None
        evidence = trials.failed * -log(NOISE)
        evidence += trials.passed * log((1 - self.rate) / (1 - NOISE * self.rate))
        if evidence <= log((1 - self.confidence) / (1 - FALSE_ALARM)):
            return False
        return True if evidence >= log(self.confidence / FALSE_ALARM) else None

    def needed(self, trials: TrialCounts) -> int:
        """The fewest further runs after which it might be decided."""
        more = 1
        while (
            self.decide(trials + TrialCounts(more)) is None
            and self.decide(trials + TrialCounts(0, more)) is None
        ):
            more += 1
        return more


Runs: TypeAlias = Generator[Sequence[Case], Sequence[Outcome], None]

_FAILED, _PASSED, _BROKEN = TrialCounts(failed=1), TrialCounts(passed=1), TrialCounts(broken=1)


class OutOfRuns(Exception):
    """The runs are used up although something is undecided."""


class FailureCounter:
    """Counts failures of one kind; a case that fails in another way counts as passed.

    Every run is numbered, so that no two have the same seed: the agent's random choices must not be the same
    for all cases.
    """

    def __init__(self, kind: ErrorKind, most: int) -> None:
        self.spent = 0
        self.failures: dict[str, Outcome] = {}  # the first failure of each case, by its id
        self.trials: dict[str, TrialCounts] = defaultdict(TrialCounts)
        self.failing_otherwise = set[str]()  # ids of cases that failed in another way
        self.complaint = ""  # about the last run without a verdict
        self.kind = kind
        self._most = most

    def run(self, wanted: Sequence[tuple[Case, int]]) -> Runs:
        """Run each case this many more times; `OutOfRuns` if that exceeds the limit."""
        asked = [case for case, times in wanted for _ in range(times)]
        cases = asked[: self._most - self.spent]
        numbered = [again(case, self.spent + place) for place, case in enumerate(cases, 1)]
        self.spent += len(cases)
        if cases:
            for case, outcome in zip(cases, (yield numbered), strict=True):
                self._enter(case, outcome)
        if len(cases) < len(asked):
            raise OutOfRuns

    def _enter(self, case: Case, outcome: Outcome) -> None:
        verdict = outcome.verdict
        if verdict.verdict == "failed" and verdict.error == self.kind:
            self.trials[case.id] += _FAILED
            self.failures.setdefault(case.id, outcome)
        else:
            judged = verdict.verdict in ("passed", "failed")
            self.trials[case.id] += _PASSED if judged else _BROKEN
            if verdict.verdict == "failed":
                self.failing_otherwise.add(case.id)
            elif not judged:
                self.complaint = verdict.explanation or outcome.transcript.error
