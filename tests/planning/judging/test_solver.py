"""The slow twin on its own feet."""

from collections import Counter
from itertools import permutations
from random import Random
from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Transcript, Verdict
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.judging.check import check
from misstep.planning.judging.verification import verify
from misstep.planning.world.simulator import Deed, History
from tests.planning.judging import semantics
from tests.planning.judging.random_cases import random_case

ACTIONS = tuple(Action(name, name, name) for name in "abcd")


def case(*pairs: str) -> Case:
    return Case(CASE_VERSION, "x", 0, "t", "q", ACTIONS, tuple(Before(*pair) for pair in pairs))


def test_satisfiable() -> None:
    assert solver.satisfiable(case("ab", "bc", "cd")) == "yes"
    assert solver.satisfiable(case("ab", "bc", "ca")) == "no"
    assert solver.satisfiable(case()) == "yes"


def test_a_core_has_nothing_in_it_that_is_not_needed() -> None:
    assert solver.conflict(case("ab", "ad", "bc", "bd", "ca")) == (0, 2, 4)
    assert solver.conflict(case("ab", "ad")) == ()


def test_what_a_plan_breaks() -> None:
    assert solver.violated_by(case("ab", "cb", "ad"), "bacd") == (0, 1)
    assert solver.violated_by(case("ab", "cb", "ad"), "acbd") == ()
    assert len(solver.conflict(case("ab", "cb", "ad"), "bacd")) == 1


def test_unknown_is_neither_yes_nor_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_answer", lambda result: "unknown")
    for question in (solver.violated_by, solver.conflict):
        with pytest.raises(solver.SolverUnsure):
            question(case("ab"), "bacd")
    with pytest.raises(solver.SolverUnsure):
        solver.conflict(case("ab"))


def test_odd_names_are_told_apart() -> None:
    odd = Case(
        CASE_VERSION,
        "x",
        0,
        "t",
        "q",
        (Action("a\0x", "n", "t"), Action("a\0y", "m", "u")),
        (Before("a\0x", "a\0y"),),
    )
    assert solver.violated_by(odd, ["a\0x", "a\0y"]) == ()
    assert solver.violated_by(odd, ["a\0y", "a\0x"]) == (0,)


def test_an_errored_plan_is_not_put_to_z3() -> None:
    problem = case("ab")
    transcript = Transcript("x", tuple(Call(name) for name in "bacd"), ended="error")
    verify(problem, transcript, check(problem, transcript))


def test_verification_passes_what_is_right_and_stops_at_what_is_not() -> None:
    problem = case("ab", "cb")
    transcript = Transcript("x", tuple(Call(name) for name in "bacd"))
    verify(problem, transcript, check(problem, transcript))
    with pytest.raises(InternalError, match="disagree on case x"):
        verify(problem, transcript, Verdict("x", "failed", "order", violated=(0,)))


def test_verification_stops_at_a_false_failure() -> None:
    problem = case("ab", "cb")
    right = Transcript("x", tuple(Call(name) for name in "acbd"))
    verify(problem, right, Verdict("x", "passed"))
    for error in ("order", "lost", "parameter", "act"):
        with pytest.raises(InternalError, match="disagree on case x"):
            verify(problem, right, Verdict("x", "failed", error))  # type: ignore[arg-type]


@pytest.mark.parametrize("calls", ["acb", "acbdd", "acbdx"])
def test_verification_stops_at_a_false_pass(calls: str) -> None:
    transcript = Transcript("x", tuple(Call(name) for name in calls))
    verify(case("ab"), transcript, check(case("ab"), transcript))
    with pytest.raises(InternalError, match="disagree on case x"):
        verify(case("ab"), transcript, Verdict("x", "passed"))


def test_verification_knows_that_turns_may_be_shared_or_not() -> None:
    transcript = Transcript("x", tuple(Call(name, turn=1) for name in "abcd"))
    for parallel in ("ordered", "forbid"):
        verify(case("ab"), transcript, check(case("ab"), transcript, parallel))  # type: ignore[arg-type]
    late = msgspec.structs.replace(transcript, ended="timeout")
    verify(case("ab"), late, check(case("ab"), late))


def ruled(*constraints: Constraint, **world: Any) -> Case:
    return msgspec.structs.replace(case(), constraints=constraints, world=World(**world))


DAY: dict[str, Any] = {"day": (480, 600), "durations": {"a": 30, "b": 30, "c": 30, "d": 30}}


@pytest.mark.parametrize(
    ("problem", "core"),
    [
        (ruled(Adjacent("a", "b"), Adjacent("a", "c"), Before("c", "d")), (0, 1)),
        (ruled(Place("a", "first"), Before("c", "d"), Before("b", "a")), (0, 2)),
        (ruled(Place("a", "first"), Place("a", "last")), (0, 1)),
        (ruled(Limit("a", 1), Before("c", "d"), Before("b", "a"), Before("c", "a")), (0, 2, 3)),
        (ruled(Choice(("a", "b")), Spend(20), costs={"a": 30, "b": 25}), (1,)),
        (ruled(Choice(("a", "b")), Spend(20), costs={"a": 30, "b": 20}), ()),
        (ruled(Condition("a", "a problem", "b"), Before("b", "a"), findings={"a": True}), (0, 1)),
        (ruled(Condition("a", "a problem", "b"), Before("b", "a"), findings={"a": False}), ()),
        (ruled(Handover("a", "b", "x"), Before("b", "a"), values={"a": {"x": ("1",)}}), (0, 1)),
        (ruled(StandIn("a", "b"), Before("c", "a"), Before("a", "c"), broken=("a",)), (1, 2)),
        (ruled(StandIn("a", "b"), Before("b", "c"), Before("c", "b"), broken=("a",)), ()),
        (ruled(Window("a", "start", "after", 571), **DAY), (0,)),
        (ruled(Window("a", "start", "after", 570), **DAY), ()),
        (ruled(Window("a", "end", "before", 540), Before("b", "a"), Before("c", "a"), **DAY), (0, 1, 2)),
        (ruled(Repeat("a", 2), **DAY), None),
        (ruled(Repeat("a", 2), Before("a", "b"), Limit("b", 1)), (1, 2)),
        (ruled(Before("a", "b", announced="c"), Before("b", "a"), Place("c", "first")), (0, 1, 2)),
        (ruled(Before("a", "b", announced="c"), Before("b", "a")), ()),
    ],
)
def test_contradictions_of_all_kinds(problem: Case, core: tuple[int, ...] | None) -> None:
    """None stands for a case that can't be solved, whatever is asked."""
    assert solver.satisfiable(problem) == ("yes" if core == () else "no")
    assert solver.conflict(problem) == (core or ())


def test_an_order_leaves_times_open() -> None:
    problem = ruled(
        Window("a", "start", "after", 571), Window("b", "end", "before", 540), Before("b", "a"), **DAY
    )
    assert solver.violated_by(problem, "cdab") == (0, 1, 2)
    assert solver.violated_by(problem, "abcd") == (0, 2)


def test_what_is_not_in_a_plan_is_not_carried_out() -> None:
    assert solver.violated_by(case("ab", "bc"), "b") == (0,)
    assert solver.violated_by(case("ab", "bc"), "") == ()
    assert solver.violated_by(case("ab", "bc"), History()) == ()


def test_too_much_work_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_WORK", 1)
    problem = ruled(Adjacent("a", "b"), Limit("b", 2), Place("c", "last"), **DAY)
    assert solver.satisfiable(problem) == "unknown"
    with pytest.raises(solver.SolverUnsure):
        solver.conflict(problem)


def test_whether_there_is_a_plan_at_all_agrees_with_trying_them_all() -> None:
    random, answers = Random(4), list[str]()
    while len(answers) < 60:
        drawn = random_case(random)
        if not drawn.world.day and len(units(drawn)) <= 5:
            answer = solver.satisfiable(drawn)
            plans = [plan for size in range(6) for plan in permutations(units(drawn), size)]
            assert (answer == "yes") == any(is_right(drawn, plan) for plan in plans)
            answers.append(answer)
    assert min(answers.count("yes"), answers.count("no")) > 10


def units(problem: Case) -> list[str]:
    times = {c.action: c.times for c in problem.constraints if isinstance(c, Repeat)}
    return [action.id for action in problem.actions for _ in range(times.get(action.id, 1))]


def is_right(problem: Case, plan: tuple[str, ...]) -> bool:
    """Whether everything said holds if just this is carried out, by those who can."""
    stand_ins = {c.action: c.by for c in problem.constraints if isinstance(c, StandIn)}
    broken = problem.world.broken
    if any(action in broken and stand_ins.get(action, action) in broken for action in plan):
        return False
    deeds = [Deed(i, n, by=stand_ins[i] if i in broken else "") for n, i in enumerate(plan, 1)]
    history = History(tuple(deeds), calls_of=Counter(deed.by or deed.action for deed in deeds))
    handed = [
        c.giver in plan[:place]
        for c in problem.constraints
        if isinstance(c, Handover)
        for place, action in enumerate(plan)
        if action == c.taker
    ]
    held = all(semantics.holds(constraint, history, problem) for constraint in problem.constraints)
    return held and all(handed) and not semantics.lost(problem, history)
