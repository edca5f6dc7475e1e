"""The wall for cases from outside: what gets past it can be judged without further doubt."""

import re
from math import factorial

import msgspec

from misstep.core.case import CASE_VERSION, Case
from misstep.errors import UsageError
from misstep.planning.plans.order import Order, count_orders, find_cycle, first_available
from misstep.planning.synthesis.suite import MOST_ACTIONS

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def admit(case: Case) -> Case:
    """The case with witness and chance filled in; a `UsageError` where it makes no sense."""
    if case.version != CASE_VERSION:
        raise UsageError(f"case version {case.version}", f"this misstep reads version {CASE_VERSION}")
    if not case.id:
        raise UsageError("the case has no id")
    _check_actions(case)
    _check_constraints(case)
    order = _order(case)
    witness = case.witness or tuple(case.actions[i].id for i in first_available(order.before))
    _check_witness(case, witness)
    chance = count_orders(tuple(order.before)) / factorial(order.size)
    return msgspec.structs.replace(case, witness=witness, chance=chance)


def _check_actions(case: Case) -> None:
    if not 1 <= len(case.actions) <= MOST_ACTIONS:
        raise UsageError(f"the case has {len(case.actions)} actions", f"expected 1 to {MOST_ACTIONS}")
    for kind, values in (
        ("action id", [action.id for action in case.actions]),
        ("tool", [action.tool for action in case.actions]),
    ):
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UsageError(f"two actions share the {kind} {twice!r}", "each needs its own")
    for action in case.actions:
        if not _TOOL_NAME.fullmatch(action.tool):
            raise UsageError(
                f"tool name {action.tool!r} can't be offered to a model",
                "expected 1 to 64 letters, digits, '_' or '-'",
            )


def _check_constraints(case: Case) -> None:
    known = [action.id for action in case.actions]
    for index, constraint in enumerate(case.constraints):
        for action in (constraint.first, constraint.then):
            if action not in known:
                raise UsageError(
                    f"constraint {index} speaks of an unknown action {action!r}", f"known: {', '.join(known)}"
                )
        number = constraint.sentence
        if number is not None and not 0 <= number < (len(case.sentences) or number + 1):
            last = len(case.sentences) - 1
            expected = f"the case has sentences 0 to {last}" if case.sentences else "expected 0 or more"
            raise UsageError(f"constraint {index} comes from sentence {number}", expected)


def _order(case: Case) -> Order:
    numbers = {action.id: number for number, action in enumerate(case.actions)}
    relations = [(numbers[c.first], numbers[c.then]) for c in case.constraints]
    order = Order(len(numbers))
    if all([order.add(*relation) for relation in relations]):
        return order
    cycle = find_cycle(relations)
    listed = ", ".join(str(index) for index in cycle)
    said = "; ".join(f"{case.constraints[i].first} before {case.constraints[i].then}" for i in cycle)
    raise UsageError(f"no plan can satisfy the case: constraints {listed} contradict each other", said)


def _check_witness(case: Case, witness: tuple[str, ...]) -> None:
    if sorted(witness) != sorted(action.id for action in case.actions):
        raise UsageError("the witness is not an order of the case's actions", f"given: {', '.join(witness)}")
    for index, constraint in enumerate(case.constraints):
        if witness.index(constraint.first) > witness.index(constraint.then):
            raise UsageError(
                f"the witness breaks constraint {index}",
                f"{constraint.first} has to come before {constraint.then}",
            )
