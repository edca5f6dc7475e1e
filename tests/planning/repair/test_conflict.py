"""A contradiction is one, and everything in it is needed."""

import sys
from random import Random

import pytest

from misstep.core.constraint import Adjacent, Before, Choice, Place
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.repair.arrangement import confirm, find_conflict
from misstep.planning.repair.reading import RequestReading, problem
from tests.planning.repair.readings import every_plan, random_reading, reading


def conflict_of(drawn: RequestReading) -> list[object]:
    return [rule.constraint for rule in find_conflict(drawn.tools, drawn.rules)]


def test_a_contradiction_is_one_and_has_nothing_to_spare() -> None:
    random, found = Random(3), 0
    while found < 150:
        drawn = random_reading(random, most=4)
        conflict = find_conflict(drawn.tools, drawn.rules)
        possible = any(True for _ in every_plan(drawn.tools, drawn.constraints))
        assert possible == (not conflict)
        if not conflict:
            continue
        found += 1
        choices = [rule.constraint for rule in drawn.rules if isinstance(rule.constraint, Choice)]
        guilty = [rule.constraint for rule in conflict if rule.constraint not in choices]
        assert not list(every_plan(drawn.tools, [*choices, *guilty]))
        for constraint in guilty:
            others = [each for each in guilty if each is not constraint]
            assert any(True for _ in every_plan(drawn.tools, [*choices, *others]))


def test_z3_confirms() -> None:
    random, found = Random(4), 0
    while found < 40:
        drawn = random_reading(random)
        conflict = find_conflict(drawn.tools, drawn.rules)
        if conflict:
            assert confirm(drawn.tools, conflict)
            assert solver.conflict(problem(drawn.tools, [rule.constraint for rule in conflict]))
            found += 1


def test_z3_objects_to_what_is_none() -> None:
    with pytest.raises(InternalError, match="Z3 finds a plan"):
        confirm(("pay", "ship"), reading(("pay", "ship"), Before("pay", "ship")).rules)


def test_what_has_nothing_to_do_with_it_is_left_out() -> None:
    tools = ("pay", "ship", "mail", "call")
    drawn = reading(
        tools,
        Before("call", "mail"),
        Before("pay", "ship"),
        Place("call", "first"),
        Before("ship", "mail"),
        Before("mail", "pay"),
    )
    assert conflict_of(drawn) == [Before("pay", "ship"), Before("ship", "mail"), Before("mail", "pay")]


def test_a_choice_is_told_of_where_its_options_are() -> None:
    tools = ("pay", "ship", "mail", "call")
    choice = Choice(("pay", "ship"))
    drawn = reading(tools, choice, Adjacent("mail", "call"), Before("call", "mail"))
    assert choice not in conflict_of(drawn)
    both = (Before("mail", "pay"), Before("mail", "ship"), Before("pay", "mail"), Before("ship", "mail"))
    assert conflict_of(reading(tools, choice, *both))[-1] == choice


def test_without_z3_it_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    solver.require_z3.cache_clear()
    monkeypatch.setitem(sys.modules, "z3", None)
    drawn = reading(("pay", "ship"), Before("pay", "ship"), Before("ship", "pay"))
    try:
        assert not confirm(drawn.tools, drawn.rules)
    finally:
        solver.require_z3.cache_clear()
