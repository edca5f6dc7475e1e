"""Beliefs are what Bayes' rule says, summed up the long way."""

from collections.abc import Callable, Hashable
from copy import deepcopy
from math import log

import pytest

from misstep.core.rng import Dice
from misstep.planning.dissection.hypotheses import (
    SAME_DEMANDS,
    AllDemands,
    Beliefs,
    Beta,
    Condition,
    Guilty,
    Hopeless,
    Hypothesis,
    Rate,
    RequestText,
    expected,
)
from misstep.planning.variation.elements import Element

WORDS = [Element("terminal", name) for name in ("prior to", "precedes", "happens")]
TOPIC = Element("topic", "baker")
FORMS = [Element("structure", name) for name in ("verb", "fronted preposition")]
CHAIN = Element("constraint", "chain")
ELEMENTS = frozenset([*WORDS, TOPIC, *FORMS, CHAIN])

Trial = tuple[Condition, bool]


def trials(seed: int, count: int = 9) -> list[Trial]:
    """Runs of variants that lack anything, with any outcome."""
    dice = Dice(seed)
    whole = sorted([*ELEMENTS, SAME_DEMANDS], key=lambda element: (element.cause, element.name))
    return [
        (
            frozenset([RequestText(f"{number}"), *(element for element in whole if dice.chance(0.6))]),
            dice.chance(0.5),
        )
        for number in range(count)
    ]


GRID = [(i + 0.5) / 1000 for i in range(1000)]


def density(rate: Rate) -> list[float]:
    """On the grid, up to a factor."""
    total = [0.0] * len(GRID)
    for part in rate:
        own = [x ** (part.failed - 1) * (1 - x) ** (part.passed - 1) for x in GRID]
        norm = sum(own)
        total = [t + part.weight * mass / norm for t, mass in zip(total, own, strict=True)]
    return total


def likelihood(hypothesis: Hypothesis, seen: list[Trial], original: Condition) -> float:
    """Of the runs, given the first failure: the rates are integrated out on a grid."""
    product = 1.0
    for group in {hypothesis.group(condition) for condition, _ in seen}:
        own = [failed for condition, failed in seen if hypothesis.group(condition) == group]
        first = hypothesis.group(original) == group
        prior = density(hypothesis.rate(group))
        masses = [mass * (x if first else 1.0) for x, mass in zip(GRID, prior, strict=True)]
        after = [
            mass * x ** sum(own) * (1 - x) ** (len(own) - sum(own))
            for x, mass in zip(GRID, masses, strict=True)
        ]
        product *= sum(after) / sum(masses)
    return product


@pytest.mark.parametrize("seed", range(4))
def test_the_posterior_is_prior_times_likelihood(seed: int) -> None:
    seen = trials(seed)
    beliefs = Beliefs(ELEMENTS)
    prior = dict(beliefs.weights)
    for condition, failed in seen:
        beliefs.observe(condition, failed)
    masses = {h: prior[h] * likelihood(h, seen, beliefs.original) for h in prior}
    total = sum(masses.values())
    for hypothesis, weight in beliefs.weights.items():
        assert weight == pytest.approx(masses[hypothesis] / total, rel=2e-3, abs=1e-9), hypothesis


def test_the_first_failure_speaks_for_no_cause() -> None:
    causes = Beliefs(ELEMENTS).causes()
    assert causes.pop("undetermined") == pytest.approx(0.12)
    assert causes.pop("probability") == pytest.approx(0.2)
    assert [share for share in causes.values() if share] == pytest.approx([0.68 / 4] * 4)


def test_without_a_topic_the_others_share() -> None:
    causes = Beliefs(ELEMENTS - {TOPIC}).causes()
    assert causes["topic"] == 0
    assert (causes["terminal"], causes["structure"]) == pytest.approx((0.68 / 3, 0.68 / 3))


def test_a_cause_is_split_evenly_over_its_elements() -> None:
    weights = Beliefs(ELEMENTS).weights
    assert len({weights[Guilty(word)] for word in WORDS}) == 1
    demands = [weights[Guilty(CHAIN)], weights[AllDemands()], weights[Hopeless()]]
    assert demands == pytest.approx([0.68 / 4 * share for share in (0.6, 0.1, 0.3)])


def test_without_a_shape_the_whole_is_blamed() -> None:
    weights = Beliefs(ELEMENTS - {CHAIN}).weights
    assert weights[AllDemands()] == pytest.approx(0.68 / 4 * 0.7)


def test_order_of_runs_does_not_matter() -> None:
    seen = trials(5)
    forwards, backwards = Beliefs(ELEMENTS), Beliefs(ELEMENTS)
    for (one, failed), (other, too) in zip(seen, reversed(seen), strict=True):
        forwards.observe(one, failed)
        backwards.observe(other, too)
    assert [*forwards.weights.values()] == pytest.approx([*backwards.weights.values()])


def uncertainty(masses: list[float]) -> float:
    return -sum(mass * log(mass) for mass in masses if mass)


@pytest.mark.parametrize("seed", range(5))
def test_gain_is_how_much_uncertainty_a_run_takes_away_on_average(seed: int) -> None:
    beliefs = Beliefs(ELEMENTS)
    *seen, (condition, _) = trials(seed, 6)
    for each, failed in seen:
        beliefs.observe(each, failed)
    chance = sum(weight * predicted(beliefs, h, condition, seen) for h, weight in beliefs.weights.items())
    about_cause, about_all = (
        uncertainty([*beliefs.causes().values()]),
        uncertainty([*beliefs.weights.values()]),
    )
    for failed, probability in ((True, chance), (False, 1 - chance)):
        after = deepcopy(beliefs)
        after.observe(condition, failed)
        about_cause -= probability * uncertainty([*after.causes().values()])
        about_all -= probability * uncertainty([*after.weights.values()])
    assert beliefs.gain(condition) == pytest.approx((about_cause, about_all), abs=1e-9)
    assert about_all >= about_cause >= 0


def predicted(beliefs: Beliefs, hypothesis: Hypothesis, condition: Condition, seen: list[Trial]) -> float:
    group = hypothesis.group(condition)
    own = [failed for each, failed in [(beliefs.original, True), *seen] if hypothesis.group(each) == group]
    return expected(hypothesis.rate(group), sum(own), len(own) - sum(own))


def test_runs_that_all_point_one_way_convince() -> None:
    beliefs = Beliefs(ELEMENTS)
    guilty = WORDS[0]
    for number in range(10):
        present = number % 2 == 0
        beliefs.observe(beliefs.original - ({TOPIC} if present else {guilty}), present)
    assert max(beliefs.weights, key=beliefs.weights.__getitem__) == Guilty(guilty)
    assert beliefs.causes()["terminal"] > 0.95


def test_a_rate_is_the_mean_of_its_mixture() -> None:
    rate = (Beta(1, 1, 0.25), Beta(9, 1, 0.75))
    assert expected(rate, 0, 0) == pytest.approx(0.25 * 0.5 + 0.75 * 0.9)
    # one failure: Beta(2, 1) and Beta(10, 1), weighted by how likely it was
    weights = 0.25 * 0.5, 0.75 * 0.9
    assert expected(rate, 1, 0) == pytest.approx((weights[0] * 2 / 3 + weights[1] * 10 / 11) / sum(weights))


def drawn(masses: list[float], dice: Dice) -> int:
    """The number of a mass, drawn by its share."""
    left = dice.below(10**9) / 10**9 * sum(masses)
    for number, mass in enumerate(masses):
        left -= mass
        if left < 0:
            return number
    return len(masses) - 1


def agent(hypothesis: Hypothesis, original: Condition, dice: Dice) -> Callable[[Condition], bool]:
    """Somebody of whom the hypothesis is true and who has failed on the original once."""
    rates: dict[Hashable, float] = {}

    def fails(condition: Condition) -> bool:
        group = hypothesis.group(condition)
        if group not in rates:
            masses = density(hypothesis.rate(group))
            first = group == hypothesis.group(original)
            rates[group] = GRID[
                drawn([m * x if first else m for x, m in zip(GRID, masses, strict=True)], dice)
            ]
        return dice.chance(rates[group])

    return fails


@pytest.mark.full
@pytest.mark.parametrize("confidence", [0.7, 0.9])
def test_stopping_when_sure_is_wrong_no_more_often_than_it_says(confidence: float) -> None:
    dice = Dice(3)
    named = list[bool]()
    for number in range(250):
        beliefs = Beliefs(ELEMENTS)
        truth = list(beliefs.weights)[drawn([*beliefs.weights.values()], dice)]
        fails = agent(truth, beliefs.original, dice)
        for condition, _ in trials(number, 120):  # unknown rules take many runs to tell apart
            beliefs.observe(condition, fails(condition))
            cause, share = max(beliefs.causes().items(), key=lambda item: item[1])
            if share >= confidence:
                named.append(cause == truth.cause)
                break
    assert len(named) > 200
    assert sum(named) / len(named) >= confidence
