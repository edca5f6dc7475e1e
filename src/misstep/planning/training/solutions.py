"""The calls that are right in a case.

Of several correct plans the canonical one always carries out the first action that it may, in the order in
which the tools are listed. It takes the first option named of those that leave a plan, asks for prices before
anything else, and where time matters it does first what is most urgent. It knows no more than an agent does,
so it tries what can only be learnt by trying, and begins anew where it has to.
"""

from collections.abc import Sequence
from contextlib import suppress

from misstep.core.case import Case, Planned, World, plain_order
from misstep.core.constraint import Given, StandIn
from misstep.core.outcome import Outcome
from misstep.core.transcript import Call, Transcript
from misstep.errors import InternalError
from misstep.planning.judging.check import judge
from misstep.planning.plans.order import first_available, order_of
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.synthesis.rehearsal import name_tools, rehearse
from misstep.planning.world.mock import MockWorld
from misstep.planning.world.tool_table import ToolTable

_NOTHING_HIDDEN = World()


def solve(outcome: Outcome) -> tuple[Call, ...] | None:
    """Correct calls, one in a turn, with the results that the tools really give; None where none are known.

    A passed case is solved by the agent's own calls. Otherwise it is the correct plan nearest to those, where
    there is nothing in the world to find out: knowing it all beforehand, a nearest plan would guess what can
    only be learnt by trying. There it is the canonical plan.
    """
    planned = _own(outcome) if outcome.verdict.verdict == "passed" else _nearest(outcome)
    return _carry_out(outcome.case, _canonical(outcome.case) if planned is None else planned)


def solve_case(case: Case) -> tuple[Call, ...] | None:
    """The same for a case that nobody has worked on: the canonical plan."""
    return _carry_out(case, _canonical(case))


def is_foreseeable(case: Case) -> bool:
    """Whether all calls of a plan are known before the first one: no result tells anything that matters."""
    return case.world == _NOTHING_HIDDEN and not any(
        isinstance(constraint, StandIn) for constraint in case.constraints
    )


def _carry_out(case: Case, planned: Sequence[Planned] | None) -> tuple[Call, ...] | None:
    if planned is None:
        return None
    calls = _play(case, planned)
    verdict = judge(case, Transcript(case.id, calls), parallel="forbid")
    if verdict.verdict != "passed":
        raise InternalError(
            f"what was to be a correct example of case {case.id} is not: {verdict.error}",
            "this is a bug in misstep: please report it with the case",
        )
    return calls


def _own(outcome: Outcome) -> list[Planned]:
    return [Planned(call.tool, call.arguments) for call in outcome.transcript.calls if call.ran >= 0]


def _nearest(outcome: Outcome) -> Sequence[Planned] | None:
    """The correct plan nearest to the agent's own, where it could have been known."""
    case, order = outcome.case, outcome.verdict.nearest
    return _named(case, order) if order and case.world == _NOTHING_HIDDEN else None


def _canonical(case: Case) -> Sequence[Planned] | None:
    before = plain_order(case)
    if before is not None:
        actions = [action.id for action in case.actions]
        order = order_of(actions, [(each.first, each.then) for each in before])
        return _named(case, [actions[number] for number in first_available(order.before)])
    if case.solution and not case.distractors:
        return case.solution
    return _rehearsed(case) or case.solution or None


def _rehearsed(case: Case) -> Sequence[Planned] | None:
    """What a strategist does that sees the tools as they are listed."""
    free = [constraint for constraint in case.constraints if not isinstance(constraint, Given)]
    listed = [part.action.id for part in ToolTable(case).listed() if part.is_needed]
    with suppress(TooManyPlans):
        calls = rehearse(listed, free, case.world)
        return name_tools(calls, case.constraints, case.actions) if calls else None
    return None


def _named(case: Case, order: Sequence[str]) -> Sequence[Planned]:
    return name_tools([Planned(action) for action in order], case.constraints, case.actions)


def _play(case: Case, planned: Sequence[Planned]) -> tuple[Call, ...]:
    world = MockWorld(case)
    return tuple(
        [
            Call(each.tool, each.arguments, world.answer(each.tool, each.arguments), turn)
            for turn, each in enumerate(planned, 1)
        ]
    )
