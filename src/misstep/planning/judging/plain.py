"""The quick way to a verdict for cases that speak of nothing but order, which are judged by the thousand."""

from collections.abc import Sequence
from typing import cast

from misstep.core.case import Case, World
from misstep.core.constraint import Before
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict

_PLAIN = World()


def plain_order(case: Case) -> Sequence[Before] | None:
    """The constraints of a case that has nothing else to heed; None where there is more to it.

    Every action is due once, and no tool takes anything.
    """
    plain = (
        all([type(constraint) is Before and not constraint.announced for constraint in case.constraints])
        and case.world == _PLAIN
        and not case.distractors
        and all([action.parameters is None for action in case.actions])
    )
    return cast("Sequence[Before]", case.constraints) if plain else None


def judge_plain(
    case: Case, order: Sequence[Before], transcript: Transcript, forbids_parallel: bool
) -> Verdict:
    """What `check.judge_history` would say of a plain case."""
    if transcript.ended == "error":
        return Verdict(case.id, "errored")
    places, unfit = _trace(case, transcript, forbids_parallel)
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


def _trace(case: Case, transcript: Transcript, forbids_parallel: bool) -> tuple[dict[str, int], int]:
    """The call that carried each action out, and the first that should not have been made, or 0."""
    ids = {action.tool: action.id for action in case.actions}
    places: dict[str, int] = {}
    unfit = 0
    turn: int | None = None
    for step, call in enumerate(transcript.calls, 1):
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
    return places, unfit


def _violations(order: Sequence[Before], places: dict[str, int]) -> tuple[int, ...]:
    return tuple(
        [
            index
            for index, constraint in enumerate(order)
            if constraint.then in places
            and not (constraint.first in places and places[constraint.first] < places[constraint.then])
        ]
    )
