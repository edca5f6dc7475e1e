"""The slow twin: order constraints put to Z3, which defines what the fast path must answer."""

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

from misstep.core.case import Case
from misstep.errors import MissingExtra, MisstepError

Answer = Literal["yes", "no", "unknown"]


class SolverUnsure(MisstepError):
    """Z3 gave up on a question."""


@cache
def _z3() -> ModuleType:
    try:
        import z3
    except ImportError as error:
        raise MissingExtra("Z3", "z3") from error
    return z3  # type: ignore[no-any-return]


def satisfiable(case: Case) -> Answer:
    """Whether any order of the actions meets all constraints of the case."""
    solver, labels = _encode(case)
    return _answer(solver.check(*labels))


def contradiction(case: Case) -> tuple[int, ...]:
    """A minimal set of constraints, by index, that no order meets; empty where there is none."""
    solver, labels = _encode(case)
    return _core(solver, labels)


def violated_by(case: Case, plan: Sequence[str]) -> tuple[int, ...]:
    """The constraints that an order of action ids breaks, each decided on its own."""
    solver, labels = _encode(case, plan)
    return tuple(i for i, label in enumerate(labels) if not _decided(solver.check(label)))


def conflict(case: Case, plan: Sequence[str]) -> tuple[int, ...]:
    """A minimal set of constraints that contradicts an order of action ids; empty where none does."""
    solver, labels = _encode(case, plan)
    return _core(solver, labels)


def _encode(case: Case, plan: Sequence[str] = ()) -> tuple[Any, list[Any]]:
    """An integer place for each action, all different, each constraint behind a label of its own."""
    z3 = _z3()
    solver = z3.Solver()
    solver.set("core.minimize", True)
    places = {action.id: z3.Int(f"a{number}") for number, action in enumerate(case.actions)}
    solver.add(z3.Distinct(*places.values()))
    for place, action in enumerate(plan):
        solver.add(places[action] == place)
    labels = [z3.Bool(f"c{index}") for index in range(len(case.constraints))]
    for label, constraint in zip(labels, case.constraints, strict=True):
        solver.add(z3.Implies(label, places[constraint.first] < places[constraint.then]))
    return solver, labels


def _core(solver: Any, labels: list[Any]) -> tuple[int, ...]:
    if _decided(solver.check(*labels)):
        return ()
    return tuple(sorted(int(str(label)[1:]) for label in solver.unsat_core()))


def _answer(result: Any) -> Answer:
    z3 = _z3()
    return "yes" if result == z3.sat else "no" if result == z3.unsat else "unknown"


def _decided(result: Any) -> bool:
    """Whether Z3 says yes; *unknown* is neither yes nor no."""
    answer = _answer(result)
    if answer == "unknown":
        raise SolverUnsure("Z3 could not decide", "judge without --verify")
    return answer == "yes"
