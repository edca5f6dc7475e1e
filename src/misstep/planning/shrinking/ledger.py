"""What has come of the runs of each case, and how many runs are left."""

from collections import defaultdict
from collections.abc import Generator, Sequence
from typing import TypeAlias

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.verdict import ErrorKind
from misstep.planning.shrinking.evidence import Trials
from misstep.planning.variation.anatomy import again

Runs: TypeAlias = Generator[Sequence[Case], Sequence[Outcome], None]

_FAILED, _PASSED, _BROKEN = Trials(failed=1), Trials(passed=1), Trials(broken=1)


class OutOfRuns(Exception):
    """There are no more runs, though something is still open."""


class Ledger:
    """Counts failures of one kind; a case that fails in another way has passed, as far as this is concerned.

    Every run has a number, so that no two have the same seed: what an agent leaves to chance must not come
    out alike for all cases.
    """

    def __init__(self, kind: ErrorKind, most: int) -> None:
        self.spent = 0
        self.failures: dict[str, Outcome] = {}  # the first of each case, by its id
        self.trials: dict[str, Trials] = defaultdict(Trials)
        self.failing_otherwise = set[str]()  # ids of cases that failed in another way
        self.complaint = ""  # about the last run of which nothing came
        self.kind = kind
        self._most = most

    def run(self, wanted: Sequence[tuple[Case, int]]) -> Runs:
        """Have each case run so many times more; `OutOfRuns` where that is too often."""
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
