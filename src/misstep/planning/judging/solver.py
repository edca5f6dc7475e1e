"""The slow checker: solves constraints with Z3 to verify the fast one."""

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

from misstep.core.case import Case, plain_order
from misstep.core.constraint import Before
from misstep.errors import MissingExtra, MisstepError
from misstep.planning.judging.encoding import Encoding, Script, Term, different, implied
from misstep.planning.world.simulator import History

Answer = Literal["yes", "no", "unknown"]
Plan = Sequence[str] | History

MOST_WORK = 20_000_000  # limit on Z3's work per query, in its own units: the same on every machine


class SolverUnsure(MisstepError):
    """Z3 could not decide a query."""


@cache
def require_z3() -> ModuleType:
    """Z3; raises `MissingExtra` unless it is installed."""
    try:
        import z3
    except ImportError as error:
        raise MissingExtra("Z3", "z3") from error
    return z3  # type: ignore[no-any-return]


def satisfiable(case: Case) -> Answer:
    """Whether any plan meets all constraints of the case, in one attempt with the world known.

    No verdict depends on it: tests compare our own plan search with it.
    """
    solver, labels = _encode(case)
    return _answer(solver.check(*labels))


def violated_by(case: Case, plan: Plan) -> tuple[int, ...]:
    """The constraints that a plan breaks, each decided individually.

    The plan is an order of action ids, which leaves times and values open, or a whole history. Neither has to
    be complete: what is not in it is not executed.
    """
    solver, labels = _encode(case, plan)
    return tuple(i for i, label in enumerate(labels) if not _decided(solver.check(label)))


def conflict(case: Case, plan: Plan | None = None) -> tuple[int, ...]:
    """A minimal set of constraints, by index, that contradict a plan, or all plans; empty if there is none.

    No verdict depends on it: tests compare with it the `core` of a verdict, in which one broken constraint is
    enough, and the cycles that we report to users. If no plan can be executed whatever the constraints, the
    set is empty too.
    """
    solver, labels = _encode(case, plan)
    if _decided(solver.check(*labels)):
        return ()
    return tuple(sorted(int(str(label)[1:]) for label in solver.unsat_core()))


def accepts(case: Case, history: History) -> bool:
    """Whether the history executes everything that is due and meets all constraints together."""
    solver, labels = _encode(case, history, complete=True)
    return _decided(solver.check(*labels))


def _encode(case: Case, plan: Plan | None = None, complete: bool = False) -> tuple[Any, list[Any]]:
    """A solver with the properties of plans and of this one; each constraint is implied by a label."""
    z3 = require_z3()
    solver = z3.Solver()
    solver.set("core.minimize", True)
    solver.set("rlimit", MOST_WORK)
    names = [f"c{index}" for index in range(len(case.constraints))]
    solver.from_string(_script(case, names, plan, complete).text())
    return solver, [z3.Bool(name) for name in names]


def _script(case: Case, names: Sequence[str], plan: Plan | None, complete: bool) -> Script:
    script = Script()
    labels = [script.truth(name) for name in names]
    order = plain_order(case)
    deeds = plan.deeds if isinstance(plan, History) else ()
    planned = [deed.action for deed in deeds] if isinstance(plan, History) else plan
    if order is not None and (planned is None or len(planned) == len(case.actions)):
        _add_order(script, labels, case, order, planned or ())
        return script
    encoding = Encoding(script, case, deeds)
    script.require(*encoding.basics())
    if isinstance(plan, History):
        script.require(*encoding.follow(plan))
    elif plan is not None:
        script.require(*encoding.follow_order(plan))
    if complete or plan is None:
        script.require(*encoding.complete())
    for label, constraint in zip(labels, case.constraints, strict=True):
        script.require(implied(label, encoding.demand(constraint)))
    return script


def _add_order(
    script: Script, labels: list[Term], case: Case, order: Sequence[Before], plan: Sequence[str]
) -> None:
    """A position for each action, all different: enough if every action is executed and order is all."""
    places = {action.id: script.number(f"a{number}") for number, action in enumerate(case.actions)}
    script.require(different(*places.values()))
    for place, action in enumerate(plan):
        script.require(places[action] == place)
    for label, constraint in zip(labels, order, strict=True):
        script.require(implied(label, places[constraint.first] < places[constraint.then]))


def _answer(result: Any) -> Answer:
    z3 = require_z3()
    return "yes" if result == z3.sat else "no" if result == z3.unsat else "unknown"


def _decided(result: Any) -> bool:
    """Whether Z3 says yes; raises `SolverUnsure` for *unknown*."""
    answer = _answer(result)
    if answer == "unknown":
        raise SolverUnsure("Z3 could not decide", "judge without --verify")
    return answer == "yes"
