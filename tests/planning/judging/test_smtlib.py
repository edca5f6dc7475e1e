"""Formulas as text: Z3 reads them as they are meant."""

import operator
from collections.abc import Callable
from itertools import product

import pytest
import z3

from misstep.planning.judging.encoding import (
    ALWAYS,
    NEVER,
    Script,
    Term,
    different,
    either,
    every,
    implied,
    negation,
    some,
    total,
)

TRUTHS = {True: ALWAYS, False: NEVER}
NUMBERS = (-12, -1, 0, 1, 30)


def is_so(*terms: Term) -> bool:
    """Whether Z3 finds the terms true, which have no names in them."""
    script = Script()
    script.require(*terms)
    return satisfiable(script)


def satisfiable(script: Script) -> bool:
    solver = z3.Solver()
    solver.from_string(script.text())
    return bool(solver.check() == z3.sat)


@pytest.mark.parametrize(
    "compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
)
def test_comparisons(compare: Callable[..., Term]) -> None:
    for one, other in product(NUMBERS, repeat=2):
        assert is_so(compare(total([one]), other)) == compare(one, other)


def test_sums_and_differences() -> None:
    for one, other in product(NUMBERS, repeat=2):
        assert is_so(total([one]) + other == one + other)
        assert is_so(total([one]) - other == one - other)
        assert is_so(total([one, other, 7]) == one + other + 7)
        assert is_so(total([]) == 0)
        assert not is_so(total([one, other]) == one + other + 1)


@pytest.mark.parametrize(
    "values", [values for size in range(4) for values in product((True, False), repeat=size)]
)
def test_every_and_some(values: tuple[bool, ...]) -> None:
    terms = [TRUTHS[value] for value in values]
    assert is_so(every(*terms)) == all(values)
    assert is_so(some(*terms)) == any(values)


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("other", [True, False])
def test_what_depends_on_a_condition(one: bool, other: bool) -> None:
    assert is_so(negation(TRUTHS[one])) == (not one)
    assert is_so(implied(TRUTHS[one], TRUTHS[other])) == (not one or other)
    assert is_so(either(TRUTHS[one], 3, -4) == (3 if one else -4))


@pytest.mark.parametrize("numbers", [(), (1,), (1, 2), (1, 1), (1, 2, 3), (1, 2, 1)])
def test_different(numbers: tuple[int, ...]) -> None:
    assert is_so(different(*numbers)) == (len(set(numbers)) == len(numbers))


def test_names() -> None:
    script = Script()
    day, is_late = script.number("day"), script.truth("is_late")
    twice = script.define("twice", day + day)
    script.require(twice == 6, implied(is_late, day > 3))
    assert satisfiable(script)
    script.require(is_late)
    assert not satisfiable(script)


def test_nobody_takes_a_formula_for_its_truth() -> None:
    with pytest.raises(TypeError, match="before a solver has read it"):
        assert total([1]) == 1
