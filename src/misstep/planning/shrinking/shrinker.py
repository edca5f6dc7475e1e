"""Searches for the smallest problem on which an agent still fails in the same way, with few runs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, islice
from math import ceil, log

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import ErrorKind, Outcome
from misstep.core.results.diagnosis import ProblemSize, Reduction
from misstep.core.run import Inquiry
from misstep.errors import UsageError
from misstep.planning.shrinking.reductions import STAGES, Stage, focus, smaller
from misstep.planning.variation.anatomy import Anatomy, again, assemble, take_apart

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
        for more in count(1):
            ends = (trials + TrialCounts(more), trials + TrialCounts(0, more))
            if any(self.decide(end) is not None for end in ends):
                break
        return more


_FAILED, _PASSED, _BROKEN = TrialCounts(failed=1), TrialCounts(passed=1), TrialCounts(broken=1)


class OutOfRuns(Exception):
    """The runs are used up although something is undecided."""


class FailureCounter:
    """Counts failures of one kind; a case that fails in another way counts as passed."""

    def __init__(self, kind: ErrorKind, most: int) -> None:
        self.spent = 0
        self.failures: dict[str, Outcome] = {}  # the first failure of each case, by its id
        self.trials: dict[str, TrialCounts] = defaultdict(TrialCounts)
        self.failing_otherwise = set[str]()  # ids of cases that failed in another way
        self.complaint = ""  # about the last run without a verdict
        self.kind = kind
        self._most = most

    def run(self, wanted: Sequence[tuple[Case, int]]) -> Inquiry[None]:
        """Run each case this many more times; `OutOfRuns` if that exceeds the limit."""
        asked = [case for case, times in wanted for _ in range(times)]
        cases = asked[: self._most - self.spent]
        # No two runs have the same seed: the agent's random choices must not be the same for all cases.
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


STEADY = 3  # failures in a row after which a case is assumed to fail always
FAILURES = 5  # enough to estimate the failure rate
MOST_REPEATS = 20  # runs of a case to estimate its failure rate
REPEATS = 4  # runs at a time
AS_OFTEN = 0.7  # of the rate of the first case: smaller ones have fewer opportunities to fail
MOST_ABREAST = 8  # candidates that are tried concurrently


def shrink(outcome: Outcome, confidence: float = 0.95, most_runs: int = 500) -> Inquiry[Reduction]:
    """Find the smallest problem on which the agent fails in this way; `UsageError` if that is impossible.

    A smaller problem is kept if it fails about as often as the first one does. Of those that fail just as
    often, no more than `1 - confidence` are missed. `most_runs` is how often the agent may be run.
    """
    case, verdict = outcome.case, outcome.verdict
    if verdict.verdict != "failed" or verdict.error is None:
        raise UsageError(f"case {case.id} has not failed", "only a failed case can be shrunk")
    ledger = FailureCounter(verdict.error, most_runs)
    return _Shrinking(_Candidate(take_apart(case), case), ledger, confidence).inquire()


class _Candidate(msgspec.Struct, frozen=True):
    """A problem that might be the smallest, and the stage of steps that led to it."""

    anatomy: Anatomy
    case: Case
    stage: int = 0


class _Shrinking:
    """The search, with a trail of ever smaller failing problems.

    As long as every failing problem fails whenever expected, one run decides about a candidate. Once one does
    not, a sequential test decides.
    """

    def __init__(self, first: _Candidate, ledger: FailureCounter, confidence: float) -> None:
        self._trail = [first]
        self._ledger = ledger
        self._yardstick = Yardstick(1.0, confidence)

    def inquire(self) -> Inquiry[Reduction]:
        minimal = False
        with suppress(OutOfRuns):
            trials = yield from self._repeat(STEADY, STEADY)
            if trials.failed == STEADY:
                minimal = yield from self._find()
            if not minimal and (yield from self._measure_rate()):
                while not minimal:
                    minimal = yield from self._find()
        return self._reduction(minimal)

    def _repeat(self, enough: int, most: int) -> Inquiry[TrialCounts]:
        """Run the first case until it has failed often enough, or been tried often enough."""
        case = self._trail[0].case
        while True:
            trials = self._trials(case)
            if trials.failed >= enough or trials.tried >= most or trials.broken > MOST_BROKEN:
                return trials
            yield from self._ledger.run([(case, min(REPEATS, most - trials.tried))])

    def _measure_rate(self) -> Inquiry[float]:
        """Estimate how often the first case fails, and accept candidates that fail somewhat less often."""
        trials = yield from self._repeat(FAILURES, MOST_REPEATS)
        rate = AS_OFTEN * trials.failed / (trials.tried + 1)
        self._yardstick = msgspec.structs.replace(self._yardstick, rate=rate)
        return rate

    def _find(self) -> Inquiry[bool]:
        """Descend to the smallest problem; False if it turns out not to fail that often."""
        yield from self._descend()
        return (yield from self._confirm())

    def _descend(self) -> Inquiry[None]:
        """Go to smaller problems until every step from the smallest has been tried without success."""
        stage, swept = 0, False
        while not swept:
            found = yield from self._first_failing(self._candidates(stage))
            if found:
                self._trail.append(found)
            swept, stage = not found and stage == 0, found.stage if found else 0

    def _candidates(self, stage: int) -> Iterator[_Candidate]:
        """Steps from the smallest problem, from a stage on, that are not known to fail to reproduce."""
        smallest, seen = self._trail[-1], set[str]()
        about: Stage = partial(focus, outcome=self._ledger.failures[smallest.case.id])
        for number, steps in enumerate((about, *STAGES)):
            for anatomy in smaller(smallest.anatomy, steps) if number >= stage else ():
                case = assemble(anatomy)
                if case and case.id not in seen and self._decide(case) is not False:
                    seen.add(case.id)
                    yield _Candidate(anatomy, case, number)

    def _first_failing(self, candidates: Iterator[_Candidate]) -> Inquiry[_Candidate | None]:
        """Try more and more concurrently: the first candidates fail most often, which saves the others."""
        width = 1
        while window := list(islice(candidates, width)):
            found = yield from self._race(window)
            if found:
                return found
            width = min(2 * width, MOST_ABREAST)
        return None

    def _race(self, window: Sequence[_Candidate]) -> Inquiry[_Candidate | None]:
        while True:
            decided = [self._decide(candidate.case) for candidate in window]
            first = decided.index(True) if True in decided else len(window)
            undecided = [window[place].case for place in range(first) if decided[place] is None]
            if not undecided:
                return window[first] if first < len(window) else None
            yield from self._ledger.run(
                [(case, self._yardstick.needed(self._trials(case))) for case in undecided]
            )

    def _confirm(self) -> Inquiry[bool]:
        """Run the smallest problem some more; it is rejected if it fails too rarely after all."""
        case = self._trail[-1].case
        rate, doubt = self._yardstick.rate, 1 - self._yardstick.confidence
        # As many runs as it takes to see it fail again.
        runs = STEADY - 1 if rate == 1 else ceil(log(doubt) / log(1 - rate))
        yield from self._ledger.run([(case, runs)])
        if self._decide(case) is not False:
            return True
        if rate == 1:
            del self._trail[1:]  # one failure each is not enough evidence
        elif len(self._trail) == 1:
            return True
        else:
            self._trail.pop()
        return False

    def _trials(self, case: Case) -> TrialCounts:
        return self._ledger.trials[case.id]

    def _decide(self, case: Case) -> bool | None:
        return self._yardstick.decide(self._trials(case))

    def _reduction(self, minimal: bool) -> Reduction:
        first, smallest = self._trail[0].case, self._trail[-1].case
        steps = [step for stage in STAGES for step in smaller(self._trail[-1].anatomy, stage)]
        beyond = {case.id for case in map(assemble, steps) if case}
        unjudged = sum(self._ledger.trials[name].broken > MOST_BROKEN for name in beyond)
        trials, failure = self._trials(smallest), self._ledger.failures.get(smallest.id)
        return Reduction(
            case=failure.case if failure else smallest,
            kind=self._ledger.kind,
            outcome=failure,
            before=_size(first),
            after=_size(smallest),
            failed=trials.failed,
            tried=trials.tried,
            steps=len(self._trail) - 1,
            agent_runs=self._ledger.spent,
            minimal=minimal and not unjudged,
            otherwise=len(beyond & self._ledger.failing_otherwise),
            unjudged=unjudged,
            complaint=self._ledger.complaint,
        )


def _size(case: Case) -> ProblemSize:
    return ProblemSize(len(case.actions), len(case.sentences), len(case.constraints), len(case.query.split()))
