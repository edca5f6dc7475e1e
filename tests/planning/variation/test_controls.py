"""Variants that demand something else: without a shape of the order, without a family."""

from collections import Counter
from math import comb, factorial

import pytest

from misstep.core.case import Case, families_of
from misstep.core.constraint import FAMILIES, Family
from misstep.core.rng import Dice
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, vary
from tests.planning.variation.kinds import MIXTURES, mixed
from tests.planning.variation.meaning import assert_perfect_passes, assert_text_says_constraints
from tests.planning.variation.test_vary import assert_absent, closure, plain_cases, sorted_elements, whole
from tests.quality.test_planted_faults import occurs, run

# Other constraints


@pytest.mark.full(after=2)
@pytest.mark.parametrize(
    "shapes", [("chain",), ("join",), ("fork",), ("chain", "join"), ("chain", "join", "fork")]
)
def test_another_order_lacks_the_shapes_and_is_much_like_the_first(shapes: tuple[str, ...]) -> None:
    similar = Counter[str]()
    count = 0
    for number, case in enumerate(plain_cases(40, 4, 6, seed=37)):
        anatomy = take_apart(case)
        variant = vary(anatomy, [Element("constraint", shape) for shape in shapes], Dice(number))
        assert variant is not None
        changed = whole(variant)
        present = [shape for shape in shapes if occurs(shape, case)]
        if not present:
            assert variant == anatomy
            continue
        count += 1
        assert not [shape for shape in shapes if occurs(shape, changed)]
        assert changed.constraints
        assert (changed.actions, changed.topic, changed.seed) == (case.actions, case.topic, case.seed)
        assert_text_says_constraints(changed)
        assert_perfect_passes(changed)
        others = [s for s in ("chain", "join", "fork") if s not in shapes and occurs(s, case)]
        similar["shapes"] += all(occurs(shape, changed) for shape in others)
        similar["chance"] += (changed.chance or 0) < 4 * max(case.chance or 0, least_chance(shapes, case))
        words = {word.one for said in anatomy.words for word in said}
        still = {word.one for said in variant.words for word in said}
        similar["words"] += len(words & still) > len(words) / 2
    assert count > 10
    if len(shapes) == 1:
        assert similar["shapes"] > 0.85 * count
        assert similar["chance"] > 0.85 * count
        assert similar["words"] > 0.6 * count


def least_chance(shapes: tuple[str, ...], case: Case) -> float:
    """That of the strictest order without some shapes: in two layers where there is no chain, else in a row."""
    size = len(case.actions)
    if "chain" not in shapes:
        return 1 / factorial(size)
    return 1 / comb(size, size // 2)


def test_a_planner_that_fails_on_a_shape_passes_without_it() -> None:
    for number, case in enumerate(plain_cases(15, seed=38)):
        for shape in ("chain", "join", "fork"):
            variant = vary(take_apart(case), [Element("constraint", shape)], Dice(number))
            assert variant is not None
            assert run(whole(variant), "constraint", shape=shape).verdict == "passed"


# Families


@pytest.mark.full(after=2)
@pytest.mark.parametrize("families", MIXTURES[1:], ids=",".join)
def test_problems_of_families(families: tuple[Family, ...]) -> None:
    made = tried = 0
    for number, case in enumerate(mixed(families, 3, seed=5)):
        anatomy = take_apart(case)
        dice = Dice(number)
        elements = sorted_elements(anatomy)
        for element in dice.sample(elements, min(8, len(elements))):
            is_easy = element.cause not in ("position", "size")
            tried += is_easy
            variant = vary(anatomy, [element], dice)
            if variant is None:
                assert element.cause in ("constraint", "structure", "position", "size")
                continue
            made += is_easy
            changed = whole(variant)
            assert_absent(element, changed)
            assert_text_says_constraints(changed)
            assert_perfect_passes(changed)
            if element.cause not in ("constraint", "size"):
                assert changed.chance == pytest.approx(case.chance)
    assert made > 0.75 * tried


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "order"])
def test_a_family_is_left_out(family: Family) -> None:
    made = 0
    for number, case in enumerate(mixed(("order", family), 6, seed=7)):
        variant = vary(take_apart(case), [Element("constraint", family)], Dice(number))
        if variant is None:
            continue
        made += 1
        changed = whole(variant)
        assert family not in families_of(changed)
        assert {*families_of(changed)} == {*families_of(case)} - {family}
        assert closure(changed) == closure(case)
        assert_perfect_passes(changed)
    assert made > 3


def test_a_budget_goes_with_the_choices() -> None:
    for number, case in enumerate(mixed(("order", "budget"), 8, seed=9)):
        variant = vary(take_apart(case), [Element("constraint", "choice")], Dice(number))
        assert variant is not None
        changed = whole(variant)
        assert families_of(changed) == ["order"]
        assert "euro" not in changed.query
        assert len(changed.witness) == len(changed.actions)
        assert_perfect_passes(changed)
