"""The quick way to a verdict for cases that speak of nothing but order, which are judged by the thousand."""

from collections.abc import Sequence
from typing import NamedTuple

from misstep.core.case import Case
from misstep.core.constraint import Before
from misstep.core.transcript import Call, Transcript
from misstep.core.verdict import Verdict
from misstep.planning.world.history import Deed, History


class Trace(NamedTuple):
    """Numbers of calls: those that carried actions out, and the first that should not be there, or 0."""

    places: dict[str, int]
    unfit: int

    @property
    def history(self) -> History:
        """What was carried out; of calls that should not have been made it does not tell."""
        return History(tuple([Deed(action, step) for action, step in self.places.items()]))


def judge_plain(case: Case, order: Sequence[Before], transcript: Transcript, trace: Trace) -> Verdict:
    """What `check.judge_history` would say of a case that `plain_order` has an order of."""
    if transcript.ended == "error":
        return Verdict(case.id, "errored")
    places, unfit = trace
    violated = _violations(order, places)
    missing: tuple[str, ...] = ()
    if len(places) < len(case.actions):
        missing = tuple([action.id for action in case.actions if action.id not in places])
    if transcript.ended != "answered":
        return Verdict(case.id, "failed", "timeout", violated=violated, missing=missing)
    if unfit:
        return Verdict(case.id, "failed", "act", unfit, violated, missing=missing)
    if missing:
        return Verdict(case.id, "failed", "lost", violated=violated, missing=missing)
    if violated:
        core = min(violated, key=lambda index: places[order[index].then])
        return Verdict(case.id, "failed", "order", places[order[core].then], violated, (core,))
    return Verdict(case.id, "passed")


def retrace(case: Case, calls: Sequence[Call], forbids_parallel: bool) -> Trace:
    """What came of the calls in a plain case."""
    ids = {action.tool: action.id for action in case.actions}
    places: dict[str, int] = {}
    unfit = 0
    turn: int | None = None
    for step, call in enumerate(calls, 1):
        action = ids.get(call.tool)
        if action is None or call.arguments != {}:
            unfit = unfit or step
        elif call.ran < 0:
            continue  # asked for, but the agent ended before it was carried out
        elif action in places:
            unfit = unfit or step
        else:
            places[action] = step
            if forbids_parallel and turn is not None and call.turn == turn:
                unfit = unfit or step
        turn = call.turn
    return Trace(places, unfit)


def _violations(order: Sequence[Before], places: dict[str, int]) -> tuple[int, ...]:
    return tuple(
        [
            index
            for index, constraint in enumerate(order)
            if constraint.then in places
            and not (constraint.first in places and places[constraint.first] < places[constraint.then])
        ]
    )
