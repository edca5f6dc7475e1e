"""The judge of planning cases: from the recorded calls to a verdict."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from misstep.core.case import Case
from misstep.core.transcript import Call, Transcript
from misstep.core.verdict import Verdict

Parallel = Literal["ordered", "forbid"]
Fault = Literal["unknown", "arguments", "repeated", "parallel"]


class Trace(msgspec.Struct, frozen=True):
    """The calls, seen against the case.

    `places` gives the number of the call that carried an action out, by action id, in the order of the
    calls; `unfit` the first call that should not have been made, and what is wrong with it.
    """

    places: dict[str, int]
    unfit: tuple[int, Fault] | None


def judge(case: Case, transcript: Transcript, parallel: Parallel = "ordered") -> Verdict:
    """The bare verdict. The first of timeout, act, lost and order that applies is the error kind."""
    return judge_trace(case, transcript, trace_calls(case, transcript.calls, parallel))


def judge_trace(case: Case, transcript: Transcript, trace: Trace) -> Verdict:
    if transcript.ended == "error":
        return Verdict(case.id, "errored")
    violated = violations(case, trace)
    missing = missing_actions(case, trace)
    if transcript.ended != "answered":
        return Verdict(case.id, "failed", "timeout", violated=violated, missing=missing)
    if trace.unfit:
        return Verdict(case.id, "failed", "act", trace.unfit[0], violated, missing=missing)
    if missing:
        return Verdict(case.id, "failed", "lost", violated=violated, missing=missing)
    if violated:
        # The misstep is the first call made too early, and one broken constraint suffices to show it.
        core = min(violated, key=lambda index: trace.places[case.constraints[index].then])
        return Verdict(
            case.id, "failed", "order", trace.places[case.constraints[core].then], violated, (core,)
        )
    return Verdict(case.id, "passed")


def trace_calls(case: Case, calls: Sequence[Call], parallel: Parallel = "ordered") -> Trace:
    ids = {action.tool: action.id for action in case.actions}
    places: dict[str, int] = {}
    unfit: tuple[int, Fault] | None = None
    turn: int | None = None
    for step, call in enumerate(calls, 1):
        action = ids.get(call.tool)
        fault: Fault | None = None
        if action is None:
            fault = "unknown"
        elif call.arguments != {}:
            fault = "arguments"
        elif call.ran < 0:
            continue  # asked for, but the agent ended before it was carried out
        elif action in places:
            fault = "repeated"
        else:
            places[action] = step
            if parallel == "forbid" and turn is not None and call.turn == turn:
                fault = "parallel"
        if fault and not unfit:
            unfit = (step, fault)
        turn = call.turn
    return Trace(places, unfit)


def violations(case: Case, trace: Trace) -> tuple[int, ...]:
    """The constraints that the calls break: something was carried out ahead of what it had to wait for.

    What was never called breaks nothing by itself; it is lost, which is an error of its own.
    """
    places = trace.places
    return tuple(
        [
            index
            for index, constraint in enumerate(case.constraints)
            if constraint.then in places
            and not (constraint.first in places and places[constraint.first] < places[constraint.then])
        ]
    )


def missing_actions(case: Case, trace: Trace) -> tuple[str, ...]:
    if len(trace.places) == len(case.actions):
        return ()
    return tuple([action.id for action in case.actions if action.id not in trace.places])
