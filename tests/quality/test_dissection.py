"""Dissection names what is planted, held against truth: Alg. 2 and the sequential method side by side."""

from collections.abc import Callable, Sequence

import pytest

from misstep.core.case import Case
from misstep.core.results.diagnosis import Diagnosis
from misstep.core.run import Inquiry
from misstep.planning.dissection import pdoctor, sequential
from misstep.planning.dissection.hypotheses import ElementHistory
from tests.quality.labelled import Labelled, failures, labelled_suite, new_planters, settle
from tests.quality.outsiders import dissections, outsiders

pytestmark = pytest.mark.full

SEED = 6

Method = Callable[[Case, ElementHistory], Inquiry[Diagnosis]]


def alg_2(case: Case, _: ElementHistory) -> Inquiry[Diagnosis]:
    return pdoctor.dissect(case, 5, seed=1)


def thrifty(case: Case, history: ElementHistory) -> Inquiry[Diagnosis]:
    return sequential.investigate(case, 0.7, 16, history)


def sure(case: Case, history: ElementHistory) -> Inquiry[Diagnosis]:
    return sequential.investigate(case, 0.95, 60, history)


class Score:
    """What a method comes to on a suite."""

    def __init__(self, suite: Sequence[Labelled], method: Method, noise: float = 0.0) -> None:
        self.found = [
            (each.planted, settle(method(each.case, each.history), each.planted, noise)) for each in suite
        ]

    @property
    def right(self) -> float:
        """The share of failures whose cause is named, and is the one planted."""
        return sum(found.cause == planted.cause for planted, found in self.found) / len(self.found)

    @property
    def runs(self) -> float:
        return sum(found.agent_runs for _, found in self.found) / len(self.found)

    @property
    def reliable(self) -> float:
        """The share of right ones among the causes that are named."""
        named = [
            planted.cause == found.cause for planted, found in self.found if found.cause != "undetermined"
        ]
        return sum(named) / len(named)

    @property
    def precise(self) -> float:
        """The share of right causes where what exactly is guilty comes first, too."""
        named = [
            found.guilty.startswith(planted.guilty)
            for planted, found in self.found
            if found.cause == planted.cause
        ]
        return sum(named) / len(named)


def test_sequential_is_right_nearly_twice_as_often_with_fewer_runs() -> None:
    suite = labelled_suite(3, SEED)
    theirs, ours = Score(suite, alg_2), Score(suite, thrifty)
    assert ours.right >= 0.86
    assert ours.right > 1.9 * theirs.right
    assert ours.runs <= 5.3
    assert ours.runs < 0.9 * theirs.runs
    assert ours.precise >= 0.93


def test_what_is_named_is_right() -> None:
    score = Score(labelled_suite(3, SEED), sure)
    assert score.reliable >= 0.99
    assert score.right >= 0.99
    assert score.precise == 1
    assert score.runs <= 12.2


def test_an_agent_that_fails_now_and_then_for_no_reason_does_not_mislead() -> None:
    suite = [each for each in labelled_suite(1, SEED) if each.planted.cause != "probability"]
    score = Score(suite, sure, noise=0.15)
    assert score.reliable >= 0.95
    assert score.right >= 0.95
    assert score.precise == 1


def test_names_positions_and_sizes_are_found() -> None:
    suite = [failure for planted in new_planters() for failure in failures(planted, 2, SEED)]
    score = Score(suite, sure)
    assert score.reliable == 1
    assert score.right >= 0.99
    assert score.precise == 1


def test_faults_outside_the_model_are_not_blamed_on_suspects() -> None:
    """Of all failures, no more are given a wrong cause than the confidence leaves room for."""
    wrong = total = 0
    for outsider in outsiders():
        for found in dissections(outsider, 2, SEED, sure):
            wrong += found.cause not in outsider.right
            total += 1
    assert total == 2 * len(outsiders())
    assert wrong <= 0.05 * total
