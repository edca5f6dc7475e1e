"""The calls that would have been right in a case."""

from collections.abc import Sequence
from contextlib import suppress

from misstep.core.case import Case, Planned, World
from misstep.core.constraint import Given
from misstep.core.outcome import Outcome
from misstep.core.transcript import Call, Transcript
from misstep.errors import InternalError
from misstep.planning.judging.check import judge
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.synthesis.rehearsal import name_tools, rehearse
from misstep.planning.world.mock import MockWorld

_NOTHING_HIDDEN = World()


def solve(outcome: Outcome) -> tuple[Call, ...] | None:
    """Correct calls, one in a turn, with the results that the tools really give; None where none are known.

    A passed case is solved by the agent's own calls. Otherwise it is the correct plan nearest to those, where
    there is nothing in the world to find out: knowing it all beforehand, a nearest plan would guess what can
    only be learnt by trying. There it is the solution of somebody who knew no more than the agent.
    """
    planned = _own(outcome) if outcome.verdict.verdict == "passed" else _correct(outcome)
    if planned is None:
        return None
    calls = _play(outcome.case, planned)
    verdict = judge(outcome.case, Transcript(outcome.case.id, calls), parallel="forbid")
    if verdict.verdict != "passed":
        raise InternalError(
            f"what was to be a correct example of case {outcome.case.id} is not: {verdict.error}",
            "this is a bug in misstep: please report it with the case",
        )
    return calls


def _own(outcome: Outcome) -> list[Planned]:
    return [Planned(call.tool, call.arguments) for call in outcome.transcript.calls if call.ran >= 0]


def _correct(outcome: Outcome) -> Sequence[Planned] | None:
    case = outcome.case
    order = outcome.verdict.nearest or case.witness
    if case.world == _NOTHING_HIDDEN and order:
        return name_tools([Planned(action) for action in order], case.constraints, case.actions)
    return case.solution or _rehearsed(case)


def _rehearsed(case: Case) -> Sequence[Planned] | None:
    """What a strategist does with a case that came without a solution."""
    free = [constraint for constraint in case.constraints if not isinstance(constraint, Given)]
    with suppress(TooManyPlans):
        calls = rehearse([action.id for action in case.actions], free, case.world)
        return name_tools(calls, case.constraints, case.actions) if calls else None
    return None


def _play(case: Case, planned: Sequence[Planned]) -> tuple[Call, ...]:
    world = MockWorld(case)
    return tuple(
        [
            Call(each.tool, each.arguments, world.answer(each.tool, each.arguments), turn)
            for turn, each in enumerate(planned, 1)
        ]
    )
