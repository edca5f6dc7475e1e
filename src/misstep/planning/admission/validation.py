"""Validates cases from outside: those that pass can be judged without further checks."""

from collections.abc import Sequence
from math import factorial

import msgspec

from misstep.core.case import CASE_VERSION, MOST_ACTIONS, Case, plain_order
from misstep.core.constraint import Before
from misstep.core.transcript import Call, Transcript
from misstep.errors import UsageError
from misstep.planning.admission.constraints import NAME, check_constraints
from misstep.planning.admission.size import check_size
from misstep.planning.admission.world import check_world
from misstep.planning.judging.explanation import check
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import Order, bits, count_orders, find_cycle, first_available, order_of
from misstep.planning.plans.search import TooManyPlans, steps
from misstep.planning.plans.survey import Survey, survey
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER

MOST_CONSTRAINTS = 200


def validate_case(case: Case) -> Case:
    """The case with witness and chance filled in; a `UsageError` where it makes no sense."""
    if case.version != CASE_VERSION:
        raise UsageError(f"case version {case.version}", f"this misstep reads version {CASE_VERSION}")
    if not case.id:
        raise UsageError("the case has no id")
    _check_actions(case)
    _check_number("constraints", len(case.constraints), 0, MOST_CONSTRAINTS)
    check_world(case)
    check_constraints(case)
    order = plain_order(case)
    if order is not None:
        found = _survey_order(case, order)
        _check_order_witness(case, order)
    else:
        check_size(case)
        _check_announcements(case)
        found = _survey(case)
        _check_witness(case)
    _check_solution(case)
    return msgspec.structs.replace(case, witness=case.witness or found.witness, chance=found.chance)


def _check_actions(case: Case) -> None:
    _check_number("actions", len(case.actions), 1, MOST_ACTIONS)
    _check_number("distractors", len(case.distractors), 0, MOST_ACTIONS)
    actions = [*case.actions, *case.distractors]
    if any([not action.id for action in actions]):
        raise UsageError("an action of the case has no id")
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


def _check_number(kind: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        raise UsageError(f"the case has {count} {kind}", f"expected {least} to {most}")


def _check_announcements(case: Case) -> None:
    """What is announced can be kept whenever that is: an agent does not know beforehand."""
    if case.world.announcements:
        ids = [action.id for action in case.actions]
        for demands in selections(ids, case.constraints, case.world):
            _check_announced(demands)


def _check_announced(demands: Demands) -> None:
    order = Order(demands.size)
    for unit, mask in enumerate(demands.before):
        if not all([order.add(earlier, unit) for earlier in bits(mask)]):
            return  # nobody can choose so anyway
    announced = [(voice, unit, mask) for unit, said in demands.announced.items() for voice, mask in said]
    for voice, unit, mask in announced:
        if not all([order.add(earlier, unit) for earlier in bits(mask)]):
            raise UsageError(
                f"what {demands.roles[voice]!r} announces contradicts something else",
                f"it has to be possible whenever it is announced, and binds {demands.roles[unit]!r}",
            )


def _survey_order(case: Case, constraints: Sequence[Before]) -> Survey:
    ids, pairs = [action.id for action in case.actions], [(c.first, c.then) for c in constraints]
    try:
        order = order_of(ids, pairs)
    except ValueError:
        cycle = find_cycle([(ids.index(first), ids.index(then)) for first, then in pairs])
        listed = ", ".join(str(index) for index in cycle)
        said = "; ".join(f"{pairs[index][0]} before {pairs[index][1]}" for index in cycle)
        raise UsageError(
            f"no plan can satisfy the case: constraints {listed} contradict each other", said
        ) from None
    witness = tuple([ids[i] for i in first_available(order.before)])
    return Survey(witness, count_orders(tuple(order.before)) / factorial(order.size))


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
    ids = [action.id for action in case.actions]
    ways = selections(ids, case.constraints, case.world)
    if case.witness and not any(_is_plan(case.witness, demands) for demands in ways):
        raise UsageError("the witness is not a correct plan", f"given: {', '.join(case.witness)}")


def _is_plan(witness: Sequence[str], demands: Demands) -> bool:
    """Whether to carry these out one after the other, each as early as can be, is all that is demanded."""
    if sorted(witness) != sorted(demands.tools):
        return False
    done, forced, clock = 0, -1, demands.timing.begin if demands.timing else 0
    for tool in witness:
        unit = next(u for u, each in enumerate(demands.tools) if each == tool and not done >> u & 1)
        ends = dict(steps(demands, done, forced, clock))
        if unit not in ends:
            return False
        done, forced, clock = done | 1 << unit, demands.next.get(unit, -1), ends[unit]
    return True


def _check_solution(case: Case) -> None:
    if case.solution:
        calls = tuple([Call(call.tool, call.arguments) for call in case.solution])
        verdict = check(case, Transcript(case.id, calls))
        if verdict.verdict != "passed":
            raise UsageError("the solution is not correct", verdict.explanation)
