"""The slow twin on its own feet."""

import pytest

from misstep.core.case import CASE_VERSION, Action, Before, Case
from misstep.core.transcript import Call, Transcript
from misstep.core.verdict import Verdict
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.judging.explanation import check
from misstep.planning.judging.verification import verify

ACTIONS = tuple(Action(name, name, name) for name in "abcd")


def case(*pairs: str) -> Case:
    return Case(CASE_VERSION, "x", 0, "t", "q", ACTIONS, tuple(Before(*pair) for pair in pairs))


def test_satisfiable() -> None:
    assert solver.satisfiable(case("ab", "bc", "cd")) == "yes"
    assert solver.satisfiable(case("ab", "bc", "ca")) == "no"
    assert solver.satisfiable(case()) == "yes"


def test_a_core_has_nothing_in_it_that_is_not_needed() -> None:
    assert solver.contradiction(case("ab", "ad", "bc", "bd", "ca")) == (0, 2, 4)
    assert solver.contradiction(case("ab", "ad")) == ()


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
        solver.contradiction(case("ab"))


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
