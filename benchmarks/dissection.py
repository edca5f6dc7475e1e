"""Measures how often root causes are found, and at what cost: Alg. 2 and the sequential method."""

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

import msgspec

from benchmarks.measure import Effort, Mark, Row
from misstep.core.results.diagnosis import Diagnosis
from misstep.core.run import Inquiry
from misstep.planning.dissection import pdoctor, sequential
from tests.quality.labelled import Labelled, Planted, labelled_suite, run

SEED = 17
EACH = 4

Method = Callable[[Labelled], Inquiry[Diagnosis]]


class Finding(msgspec.Struct, frozen=True):
    """The result of a method on one failure, and its CPU seconds without the agent's."""

    planted: Planted
    diagnosis: Diagnosis
    seconds: float

    @property
    def is_right(self) -> bool:
        return self.diagnosis.cause == self.planted.cause


class Score(msgspec.Struct, frozen=True):
    findings: Sequence[Finding]

    @property
    def right(self) -> float:
        """Percent of right causes; undetermined ones count as wrong."""
        return 100 * fmean([finding.is_right for finding in self.findings])

    @property
    def runs(self) -> float:
        return fmean([finding.diagnosis.agent_runs for finding in self.findings])

    def of(self, kind: str) -> "Score":
        return Score([finding for finding in self.findings if _kind(finding.planted) == kind])

    def __str__(self) -> str:
        return f"{self.right:.0f} % in {self.runs:.1f}"


def dissection_rows(effort: Effort) -> Iterator[Row]:
    suite = labelled_suite(effort.times(EACH), SEED)
    alg_2 = _score(suite, lambda each: pdoctor.dissect(each.case, 5, SEED))
    thrifty = _score(suite, lambda each: sequential.investigate(each.case, 0.7, 16, each.history))
    sure = _score(suite, lambda each: sequential.investigate(each.case, 0.95, 60, each.history))
    for name, score in (("Alg. 2, K = 5", alg_2), ("70 % sure", thrifty), ("95 % sure", sure)):
        yield Row(
            f"root causes, {name}", score.right, "% right", f"{len(suite)} failures with planted causes"
        )
        yield Row("… agent runs", score.runs, "each", "mean of the same failures")
    yield from _comparison_rows(alg_2, thrifty)
    per_right = (sure.runs / sure.right) / (alg_2.runs / alg_2.right)
    what = "agent runs for a right cause, 95 % sure ÷ Alg. 2"
    yield Row(what, per_right, "×", "same failures", Mark("<", 1))
    yield from _sure_rows(sure)
    yield from _class_rows(alg_2, thrifty, sure)


def _comparison_rows(alg_2: Score, thrifty: Score) -> Iterator[Row]:
    gained = thrifty.right - alg_2.right
    yield Row("root causes, 70 % sure − Alg. 2", gained, "points", "same failures", Mark("≥", 20))
    yield Row("agent runs, 70 % sure ÷ Alg. 2", thrifty.runs / alg_2.runs, "×", "same failures", Mark("<", 1))


def _sure_rows(sure: Score) -> Iterator[Row]:
    named = [each for each in sure.findings if each.diagnosis.cause != "undetermined"]
    right = [each for each in sure.findings if each.is_right]
    yield Row("95 % sure: causes named that are right", Score(named).right, "%", f"{len(named)} were named")
    precise = [each.diagnosis.guilty.startswith(each.planted.guilty) for each in right]
    yield Row("… also what exactly is guilty", 100 * fmean(precise), "%", "the name that comes first")
    seconds = fmean([each.seconds for each in sure.findings])
    yield Row("… CPU for one failure", 1e3 * seconds, "ms", "mean, without the agent's own")


def _class_rows(alg_2: Score, thrifty: Score, sure: Score) -> Iterator[Row]:
    """One row for each kind of fault, for faults that always occur and for intermittent ones."""
    kinds = dict.fromkeys([_kind(each.planted) for each in sure.findings])
    for kind in kinds:
        others = [f"{name} {score.of(kind)}" for name, score in (("Alg. 2", alg_2), ("70 % sure", thrifty))]
        own = sure.of(kind)
        yield Row(f"95 % sure: {kind}", own.right, "% right", f"in {own.runs:.1f} runs; {', '.join(others)}")


def _kind(planted: Planted) -> str:
    if planted.cause == "probability":
        return "probability"
    return f"{planted.cause}, {'always' if planted.strength == 1 else 'at times'}"


def _score(suite: Sequence[Labelled], method: Method) -> Score:
    return Score([_look_into(failure, method) for failure in suite])


def _look_into(failure: Labelled, method: Method) -> Finding:
    seconds, began = 0.0, time.process_time()
    inquiry = method(failure)
    cases = next(inquiry)
    while True:
        seconds += time.process_time() - began
        outcomes = [run(failure.planted, case) for case in cases]
        began = time.process_time()
        try:
            cases = inquiry.send(outcomes)
        except StopIteration as end:
            return Finding(failure.planted, end.value, seconds + time.process_time() - began)
