"""Two readings mean the same where they allow the same plans, however they are put."""

from collections import Counter
from random import Random

import pytest

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.planning.repair.arrangement import compare, implies
from misstep.planning.repair.reading import RequestReading, problem
from tests.planning.judging import semantics
from tests.planning.repair.readings import every_plan, history_of, random_reading, reading

ABC = ("a", "b", "c")


def follows(drawn: RequestReading, constraint: Constraint) -> bool:
    """Whether each and every plan meets the constraint."""
    case = problem(drawn.tools, drawn.constraints)
    plans = every_plan(drawn.tools, drawn.constraints)
    return all(semantics.holds(constraint, history_of(plan), case) for plan in plans)


@pytest.mark.parametrize("part", range(2))
def test_what_is_implied_follows(part: int) -> None:
    random, found = Random(20 + part), Counter[bool]()
    while found[True] < 150:
        one, other = random_reading(random, most=4), random_reading(random, most=4)
        for constraint in other.constraints:
            if implies(one, constraint):
                assert follows(one, constraint)
            found[implies(one, constraint)] += 1
    assert found[False] > 100


def test_all_order_that_follows_from_order_is_implied() -> None:
    random, found = Random(30), Counter[bool]()
    while found.total() < 800:
        drawn = reading("abcd", *[Before(*random.sample("abcd", 2)) for _ in range(random.randint(1, 5))])
        if not any(True for _ in every_plan(drawn.tools, drawn.constraints)):
            continue
        for first in drawn.tools:
            for then in drawn.tools:
                if first != then:
                    assert implies(drawn, Before(first, then)) == follows(drawn, Before(first, then))
                    found[implies(drawn, Before(first, then))] += 1
    assert min(found.values()) > 100


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((), ()),
        ((Before("a", "b"), Before("b", "c")), (Before("b", "c"), Before("a", "c"), Before("a", "b"))),
        ((Place("a", "first"),), (Before("a", "b"), Before("a", "c"))),
        ((Place("c", "last"),), (Before("a", "c"), Before("b", "c"))),
        ((Adjacent("a", "b"),), (Adjacent("a", "b"), Before("a", "b"))),
        ((Limit("a", 1),), (Limit("a", 1), Limit("a", 2))),
        ((Repeat("a", 2), Before("a", "b")), (Before("a", "b"), Repeat("a", 2))),
        ((Choice(("a", "b")),), (Choice(("a", "b")),)),
        ((Before("a", "b"), Before("b", "a")), (Before("b", "a"), Before("a", "b"))),
    ],
)
def test_the_same_in_other_words(one: tuple[Constraint, ...], other: tuple[Constraint, ...]) -> None:
    assert compare(reading(ABC, *one), reading(ABC, *other)).agrees
    assert compare(reading(ABC, *other), reading(ABC[::-1], *one)).agrees


def test_every_difference_is_told() -> None:
    one = reading(ABC, Before("a", "b"), Before("b", "c"), Repeat("a", 2))
    other = reading(ABC, Before("a", "c"), Before("a", "b"), Repeat("a", 3))
    found = compare(one, other)
    assert not found.agrees
    assert [rule.constraint for rule in found.rules] == [Before("a", "b"), Before("a", "c")]
    assert [rule.constraint for rule in found.own_rules[0]] == [Before("b", "c"), Repeat("a", 2)]
    assert [rule.constraint for rule in found.own_rules[1]] == [Repeat("a", 3)]


def test_neighbours_are_more_than_order() -> None:
    found = compare(reading(ABC, Adjacent("a", "b")), reading(ABC, Before("a", "b")))
    assert [rule.constraint for rule in found.rules] == [Before("a", "b")]
    assert [rule.constraint for rule in found.own_rules[0]] == [Adjacent("a", "b")]


def test_order_does_not_pass_through_what_may_be_left_out() -> None:
    chain = (Before("a", "b"), Before("b", "c"))
    assert implies(reading(ABC, *chain), Before("a", "c"))
    assert not implies(reading((*ABC, "d"), *chain, Choice(("b", "d"))), Before("a", "c"))


def test_a_place_among_repetitions_is_not_an_order() -> None:
    assert not implies(reading(ABC, Place("a", "first"), Repeat("a", 2)), Before("a", "b"))


def test_other_tools_are_a_difference() -> None:
    found = compare(reading(("a", "b"), Before("a", "b")), reading(("b", "c")))
    assert ([need.tool for need in found.needs], found.rules) == (["b"], ())
    assert [[need.tool for need in needs] for needs in found.own_needs] == [["a"], ["c"]]


def test_nothing_is_lost_between_the_two() -> None:
    """Every rule of either reading is either shared or told as its own."""
    random = Random(40)
    for _ in range(300):
        one, other = random_reading(random), random_reading(random)
        found = compare(one, other)
        for number, drawn in enumerate((one, other)):
            own = [rule.constraint for rule in found.own_rules[number]]
            shared = [rule.constraint for rule in found.rules]
            assert all((c in own) != (c in shared) for c in drawn.constraints)
            named = {need.tool for need in (*found.needs, *found.own_needs[number])}
            assert named == {*drawn.tools}
