"""Validates cases from outside: those that pass can be judged without further checks.

Besides the world and the constraints it checks that all plans can be enumerated quickly.
"""

from collections.abc import Iterable, Sequence
from math import prod

import msgspec

from misstep.core.case import CASE_VERSION, MOST_ACTIONS, Case, World, plain_order
from misstep.core.constraint import Before, Choice, Repeat
from misstep.core.outcome import Call, Transcript
from misstep.errors import UsageError
from misstep.planning.admission.constraints import NAME, check_constraints
from misstep.planning.judging.check import check
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import bits, find_cycle, order_of
from misstep.planning.plans.search import Survey, TooManyPlans, ends_of, survey, survey_order
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER

MOST_UNITS = 24  # executions of actions in total
MOST_WAYS = 64  # ways to choose among alternatives
MOST_BEGINNINGS = 50_000  # plan prefixes: sets of actions done at some point, over all choices


def check_size(case: Case) -> None:
    """Raise `UsageError` if the case is too large. The constraints must have been checked already."""
    more = sum([c.times - 1 for c in case.constraints if isinstance(c, Repeat)])
    units = len(case.actions) + more
    if units > MOST_UNITS:
        raise UsageError(
            f"with its repetitions the case has {units} actions", f"expected no more than {MOST_UNITS}"
        )
    ways = prod([len(c.options) for c in case.constraints if isinstance(c, Choice)])
    if ways > MOST_WAYS:
        raise UsageError(f"there are {ways} ways to choose", f"expected no more than {MOST_WAYS}")
    beginnings = 0
    for demands in selections([action.id for action in case.actions], case.constraints, case.world):
        if not demands.is_plain:  # those are counted without enumerating prefixes
            beginnings += _count_beginnings(demands)
        if beginnings > MOST_BEGINNINGS:
            raise UsageError(
                "the case is too large to check", "use fewer actions, or constrain their order further"
            )


def _count_beginnings(demands: Demands) -> int:
    """The number of plan prefixes, considering order only; stops at too many."""
    count, layer = 0, {0}
    for _ in range(demands.size):
        layer = {
            done | 1 << unit
            for done in layer
            for unit, before in enumerate(demands.before)
            if not done >> unit & 1 and not before & ~done
        }
        count += len(layer)
        if count > MOST_BEGINNINGS:
            break
    return count


DAY = 24 * 60
MOST = 99  # attempts, retries
HIGHEST_COST = 999_999_999  # fits into a sentence


def check_world(case: Case) -> None:
    """Raise `UsageError` for the first invalid part of the world."""
    world, ids = case.world, [action.id for action in case.actions]
    for what in ("durations", "values", "findings", "failures", "broken", "announcements"):
        _check_known(f"world.{what}", getattr(world, what), ids)
    _check_known("world.costs", world.costs, [*ids, *(action.id for action in case.distractors)])
    _check_day(world, ids)
    _check_limits("world.attempts", world.attempts, 1)
    _check_limits("world.retries", world.retries, 0)
    for action, times in world.failures.items():
        _check_limits(f"world.failures.{action}", times, 0, world.retries, "world.retries")
    _check_costs(world, ids)
    for action, values in world.values.items():
        for parameter, series in values.items():
            if not series or len({type(value) for value in series}) > 1:
                raise UsageError(
                    f"world.values.{action}.{parameter} is {list(series)}",
                    "expected one value or more, all texts or all integers",
                )
    for action, sentence in world.announcements.items():
        if not sentence.strip():
            raise UsageError(f"world.announcements.{action} is empty", "expected a sentence")


def _check_known(what: str, named: Iterable[str], ids: list[str]) -> None:
    for action in named:
        if action not in ids:
            raise UsageError(f"{what} refers to an unknown action {action!r}", f"known: {', '.join(ids)}")


def _check_limits(what: str, number: int, least: int, most: int = MOST, limit: str = "") -> None:
    if not least <= number <= most:
        raise UsageError(
            f"{what} is {number}", f"expected {least} to {most}" + (f", {limit}" if limit else "")
        )


def _check_day(world: World, ids: list[str]) -> None:
    if world.day is None:
        if world.durations:
            raise UsageError("world.durations without world.day", "add the day, or omit the durations")
        return
    begin, end = world.day
    if not 0 <= begin < end <= DAY:
        raise UsageError(
            f"world.day is {begin} to {end}", f"expected minutes since midnight, the end at most {DAY}"
        )
    for action in ids:
        if action not in world.durations:
            raise UsageError(f"world.durations lacks {action!r}", "in a timed case every action has one")
        _check_limits(f"world.durations.{action}", world.durations[action], 1, DAY)


def _check_costs(world: World, ids: list[str]) -> None:
    for action in ids if world.costs else ():
        if action not in world.costs:
            raise UsageError(f"world.costs lacks {action!r}", "where anything costs, every action has a cost")
    for action, cost in world.costs.items():
        _check_limits(f"world.costs.{action}", cost, 0, HIGHEST_COST)


MOST_CONSTRAINTS = 200


def validate_case(case: Case) -> Case:
    """The case with witness and chance filled in; `UsageError` if it is invalid."""
    if case.version != CASE_VERSION:
        raise UsageError(f"case version {case.version}", f"this misstep reads version {CASE_VERSION}")
    if not case.id:
        raise UsageError("the case has no id")
    _check_actions(case)
    _check_count("constraints", len(case.constraints), 0, MOST_CONSTRAINTS)
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
    _check_count("actions", len(case.actions), 1, MOST_ACTIONS)
    _check_count("distractors", len(case.distractors), 0, MOST_ACTIONS)
    actions = [*case.actions, *case.distractors]
    if any([not action.id for action in actions]):
        raise UsageError("an action of the case has no id")
    for kind, field in (("action id", "id"), ("tool", "tool")):
        values = [getattr(action, field) for action in actions]
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
                f"tool name {action.tool!r} is taken", "misstep uses it for one of its own tools"
            )


def _check_count(kind: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        raise UsageError(f"the case has {count} {kind}", f"expected {least} to {most}")


def _check_announcements(case: Case) -> None:
    """Check that an announcement can be obeyed whenever it comes, since an agent can't foresee it."""
    ids = [action.id for action in case.actions]
    for demands in selections(ids, case.constraints, case.world) if case.world.announcements else ():
        order = demands.order()
        if order is None:
            continue  # this choice is impossible anyway
        announced = [(voice, unit, mask) for unit, said in demands.announced.items() for voice, mask in said]
        for voice, unit, mask in announced:
            if not all([order.add(earlier, unit) for earlier in bits(mask)]):
                raise UsageError(
                    f"what {demands.roles[voice]!r} announces contradicts something else",
                    f"it must be possible whenever it is announced, and affects {demands.roles[unit]!r}",
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
    return survey_order(ids, order)


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
        raise UsageError("the case is too large to check", *error.hints) from error
    if not found.witness:
        raise UsageError("no plan can satisfy the case", "whichever options are chosen, in any order")
    return found


def _check_witness(case: Case) -> None:
    ids = [action.id for action in case.actions]
    ways = selections(ids, case.constraints, case.world)
    if case.witness and not any(_is_plan(case.witness, demands) for demands in ways):
        raise UsageError("the witness is not a correct plan", f"given: {', '.join(case.witness)}")


def _is_plan(witness: Sequence[str], demands: Demands) -> bool:
    """Whether executing these in sequence, each as early as possible, meets all demands."""
    if sorted(witness) != sorted(demands.tools):
        return False
    units = {tool: iter([u for u, each in enumerate(demands.tools) if each == tool]) for tool in witness}
    return ends_of(demands, [next(units[tool]) for tool in witness]) is not None


def _check_solution(case: Case) -> None:
    if case.solution:
        calls = tuple([Call(call.tool, call.arguments) for call in case.solution])
        verdict = check(case, Transcript(case.id, calls))
        if verdict.verdict != "passed":
            raise UsageError("the solution is not correct", verdict.explanation)
