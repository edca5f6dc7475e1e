"""The judge of planning cases: from the recorded calls to a verdict."""

from collections.abc import Sequence
from typing import Literal

from misstep.core.case import Case, plain_order
from misstep.core.transcript import Call, Transcript
from misstep.core.verdict import ErrorKind, Verdict
from misstep.planning.judging.breaches import View
from misstep.planning.judging.plain import judge_plain, retrace
from misstep.planning.world.history import History
from misstep.planning.world.simulator import Simulator

Parallel = Literal["ordered", "forbid"]


def judge(case: Case, transcript: Transcript, parallel: Parallel = "ordered") -> Verdict:
    """The bare verdict.

    The first of timeout, act, lost, parameter and order that applies to the last attempt is the error kind.
    """
    order = plain_order(case)
    if order is not None:
        return judge_plain(case, order, transcript, retrace(case, transcript.calls, parallel == "forbid"))
    return judge_history(case, transcript, replay(case, transcript.calls, parallel))


def replay(case: Case, calls: Sequence[Call], parallel: Parallel = "ordered") -> History:
    """What came of the calls in the last attempt; special tools may share a turn with anything."""
    stage = Simulator(case)
    turn: int | None = None
    for call in calls:
        if call.ran >= 0:
            stage.play(call.tool, call.arguments)
        elif not stage.skip(call.tool, call.arguments):
            continue  # asked for, but the agent ended before it was carried out
        if parallel == "ordered" or stage.cast.is_special(call.tool):
            continue
        if call.ran >= 0 and turn is not None and call.turn == turn:
            stage.blame_parallel()
        turn = call.turn
    return stage.history


def judge_history(case: Case, transcript: Transcript, history: History) -> Verdict:
    """The bare verdict on what came of the calls."""
    if transcript.ended == "error":
        return Verdict(case.id, "errored")
    view = View(case, history)
    breaches = view.breaches()
    violated, missing = tuple(breaches), view.missing()
    error: ErrorKind
    step: int | None = None
    core: tuple[int, ...] = ()
    if transcript.ended != "answered":
        error = "timeout"
    elif history.acts:
        error, step = "act", history.acts[0].step
    elif missing:
        error = "lost"
    elif history.parameters:
        error, step = "parameter", history.parameters[0].step
        core = view.broken_by(history.parameters[0])
    elif violated:
        # The misstep is the first call that broke something, and one broken constraint suffices to show it.
        error, step = "order", min(breaches.values())
        core = tuple([index for index in violated if breaches[index] == step][:1])
    else:
        return Verdict(case.id, "passed")
    return Verdict(case.id, "failed", error, step, violated, core, missing)
