"""The wall for cases from outside: what gets past it can be judged without further doubt."""

from collections.abc import Sequence
from math import factorial

import msgspec

from misstep.core.case import CASE_VERSION, Case, World
from misstep.core.constraint import Before, StandIn
from misstep.core.transcript import Call, Transcript
from misstep.errors import UsageError
from misstep.planning.judging.explanation import check
from misstep.planning.plans.nearest import nearest_plan
from misstep.planning.plans.order import Order, count_orders, find_cycle, first_available
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.plans.survey import Survey, survey
from misstep.planning.soundness import NAME, check_constraints
from misstep.planning.synthesis.suite import MOST_ACTIONS
from misstep.planning.world.cast import ASK_PRICE, START_OVER
from misstep.planning.world.soundness import check_world


def admit(case: Case) -> Case:
    """The case with witness and chance filled in; a `UsageError` where it makes no sense."""
    if case.version != CASE_VERSION:
        raise UsageError(f"case version {case.version}", f"this misstep reads version {CASE_VERSION}")
    if not case.id:
        raise UsageError("the case has no id")
    _check_actions(case)
    check_world(case)
    check_constraints(case)
    order = [c for c in case.constraints if isinstance(c, Before) and not c.announced]
    if len(order) == len(case.constraints) and case.world == World():
        found = _survey_order(case, order)
        _check_order_witness(case, order)
    else:
        found = _survey(case)
        _check_witness(case)
    _check_solution(case)
    return msgspec.structs.replace(case, witness=case.witness or found.witness, chance=found.chance)


def _check_actions(case: Case) -> None:
    for kind, count, least in (("actions", len(case.actions), 1), ("distractors", len(case.distractors), 0)):
        if not least <= count <= MOST_ACTIONS:
            raise UsageError(f"the case has {count} {kind}", f"expected {least} to {MOST_ACTIONS}")
    actions = [*case.actions, *case.distractors]
    for kind, values in (
        ("action id", [action.id for action in actions]),
        ("tool", [action.tool for action in actions]),
    ):
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UsageError(f"two actions share the {kind} {twice!r}", "each needs its own")
    special = [START_OVER] * (case.world.attempts > 1) + [ASK_PRICE] * bool(case.world.costs)
    for action in actions:
        if not NAME.fullmatch(action.tool):
            raise UsageError(
                f"tool name {action.tool!r} can't be offered to a model",
                "expected 1 to 64 letters, digits, '_' or '-'",
            )
        if action.tool in special:
            raise UsageError(
                f"tool name {action.tool!r} is taken", "it is what misstep calls a tool of its own"
            )


def _survey_order(case: Case, constraints: Sequence[Before]) -> Survey:
    numbers = {action.id: number for number, action in enumerate(case.actions)}
    relations = [(numbers[c.first], numbers[c.then]) for c in constraints]
    order = Order(len(numbers))
    if all([order.add(*relation) for relation in relations]):
        witness = tuple([case.actions[i].id for i in first_available(order.before)])
        return Survey(witness, count_orders(tuple(order.before)) / factorial(order.size))
    cycle = find_cycle(relations)
    listed = ", ".join(str(index) for index in cycle)
    said = "; ".join(f"{constraints[i].first} before {constraints[i].then}" for i in cycle)
    raise UsageError(f"no plan can satisfy the case: constraints {listed} contradict each other", said)


def _check_order_witness(case: Case, constraints: Sequence[Before]) -> None:
    witness = case.witness
    if not witness:
        return
    if sorted(witness) != sorted(action.id for action in case.actions):
        raise UsageError("the witness is not an order of the case's actions", f"given: {', '.join(witness)}")
    for index, constraint in enumerate(constraints):
        if witness.index(constraint.first) > witness.index(constraint.then):
            raise UsageError(
                f"the witness breaks constraint {index}",
                f"{constraint.first} has to come before {constraint.then}",
            )


def _survey(case: Case) -> Survey:
    try:
        found = survey([action.id for action in case.actions], case.constraints, case.world)
    except TooManyPlans as error:
        raise UsageError("the case is too large to be looked through", *error.hints) from error
    if not found.witness:
        raise UsageError("no plan can satisfy the case", "whatever is chosen, in whatever order it is done")
    return found


def _check_witness(case: Case) -> None:
    """A correct plan is the nearest to itself."""
    replaced = {
        c.by: c.action for c in case.constraints if isinstance(c, StandIn) and c.action in case.world.broken
    }
    roles = [replaced.get(action, action) for action in case.witness]
    ids = [action.id for action in case.actions]
    if case.witness and nearest_plan(ids, case.constraints, case.world, roles) != case.witness:
        raise UsageError("the witness is not a correct plan", f"given: {', '.join(case.witness)}")


def _check_solution(case: Case) -> None:
    if case.solution:
        calls = tuple([Call(call.tool, call.arguments) for call in case.solution])
        verdict = check(case, Transcript(case.id, calls))
        if verdict.verdict != "passed":
            raise UsageError("the solution is not correct", verdict.explanation)
