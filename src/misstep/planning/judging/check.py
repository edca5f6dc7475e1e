"""The judge of planning cases: from recorded calls to a verdict with its reasons."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from misstep.core.case import Case, plain_order
from misstep.core.constraint import Choice, Repeat, StandIn
from misstep.core.outcome import Call, ErrorKind, Transcript, Verdict, storable
from misstep.planning.judging.breaches import View, judge_plain, retrace
from misstep.planning.judging.reasons import LONGEST_SHOWN, Reasons
from misstep.planning.language.requests import how_often
from misstep.planning.language.skeletons import shown
from misstep.planning.plans import search
from misstep.planning.plans.order import nearest_order, order_of
from misstep.planning.world.simulator import ActSlip, History, Simulator
from misstep.planning.world.tool_table import START_OVER, ToolTable

Parallel = Literal["ordered", "forbid"]


def judge(case: Case, transcript: Transcript, parallel: Parallel = "ordered") -> Verdict:
    """The verdict without an explanation; the error is the first kind that applies to the last attempt."""
    order = plain_order(case)
    if order is not None:
        return judge_plain(case, order, transcript, retrace(case, transcript.calls, parallel == "forbid"))
    return judge_history(case, transcript, replay(case, transcript.calls, parallel))


def replay(case: Case, calls: Sequence[Call], parallel: Parallel = "ordered") -> History:
    """The history of the last attempt; special tools may share a turn with anything."""
    stage = Simulator(case)
    turn: int | None = None
    for call in calls:
        if call.ran >= 0:
            stage.play(call.tool, call.arguments)
        elif not stage.skip(call.tool, call.arguments):
            continue  # requested, but the agent ended before it was executed
        if parallel == "ordered" or stage.cast.is_special(call.tool):
            continue
        if call.ran >= 0 and turn is not None and call.turn == turn:
            stage.blame_parallel()
        turn = call.turn
    return stage.history


def judge_history(case: Case, transcript: Transcript, history: History) -> Verdict:
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
        # The misstep is the first call that broke something, and one broken constraint is enough to show it.
        error, step = "order", min(breaches.values())
        core = tuple([index for index in violated if breaches[index] == step][:1])
    else:
        return Verdict(case.id, "passed")
    return Verdict(case.id, "failed", error, step, violated, core, missing)


def check(case: Case, transcript: Transcript, parallel: Parallel = "ordered") -> Verdict:
    """Judge a transcript and give the reasons."""
    verdict, history = _judged(case, transcript, parallel)
    if verdict.verdict == "passed":
        return verdict
    return msgspec.structs.replace(
        verdict,
        nearest=nearest_plan(case, history) if verdict.error else (),
        explanation=_explain(case, transcript, verdict, history),
    )


def _judged(case: Case, transcript: Transcript, parallel: Parallel) -> tuple[Verdict, History]:
    """The verdict, and as much of the history as its explanation needs."""
    order = plain_order(case)
    if order is None:
        history = replay(case, transcript.calls, parallel)
        return judge_history(case, transcript, history), history
    trace = retrace(case, transcript.calls, parallel == "forbid")
    verdict = judge_plain(case, order, transcript, trace)
    if verdict.error is None:
        return verdict, History()
    is_act = verdict.error == "act"  # explaining a wrong call needs more than a trace
    return verdict, replay(case, transcript.calls, parallel) if is_act else trace.history


def nearest_plan(case: Case, history: History) -> tuple[str, ...]:
    """The correct plan, as action ids, that changes the agent's own plan least."""
    replaced = {c.by: c.action for c in case.constraints if isinstance(c, StandIn)}
    wished = [replaced.get(deed.action, deed.action) for deed in history.deeds]
    constraints = plain_order(case)
    ids = [action.id for action in case.actions]
    if constraints is None:
        return search.nearest_plan(ids, case.constraints, case.world, wished)
    order = order_of(ids, [(constraint.first, constraint.then) for constraint in constraints])
    return tuple([ids[i] for i in nearest_order(order, [ids.index(action) for action in wished])])


def _explain(case: Case, transcript: Transcript, verdict: Verdict, history: History) -> str:
    view = View(case, history)
    broken = case.constraints[verdict.core[0]] if verdict.core else None
    match verdict.error:
        case "timeout":
            limit = "time" if transcript.ended == "timeout" else "steps"
            choices = sum(isinstance(constraint, Choice) for constraint in case.constraints)
            done, total = len(view.deeds), sum(view.due.values()) + choices
            return f"The limit on {limit} was reached with {done} of {total} actions carried out."
        case "act":
            slip = history.acts[0]
            call = transcript.calls[slip.step - 1]
            repeats = [c for c in case.constraints if isinstance(c, Repeat) and c.action == slip.action]
            said = repeats[0] if slip.fault == "repeated" and repeats else None
            wrong = _act(case, slip, call, said)
            return f"Step {slip.step} is not a valid call: {wrong}.{Reasons(view).source(said)}"
        case "lost":
            return Reasons(view).lost(verdict.missing)
        case "parameter":
            first = history.parameters[0]
            return Reasons(view).slip(first, transcript.calls[first.step - 1].arguments, broken)
        case "order":
            assert broken is not None
            assert verdict.step is not None
            reason, others = Reasons(view).breach(broken, verdict.step), len(verdict.violated) - 1
            if others:
                reason += f" {others} more {'constraint is' if others == 1 else 'constraints are'} broken."
            return reason
        case None:
            return transcript.error.partition("\n")[0] or "The agent could not be run."


def _act(case: Case, slip: ActSlip, call: Call, repeat: Repeat | None) -> str:
    """What is wrong with a call in itself; `repeat` says how often its tool is to be called."""
    tool, table = shown(call.tool, LONGEST_SHOWN), ToolTable(case)
    part = table.parts.get(call.tool)
    match slip.fault:
        case "unknown":
            return f"there is no tool {tool}"
        case "arguments":
            if call.tool == START_OVER if part is None else part.takes_nothing:
                return f"{tool} was called with arguments that it does not take"
            misfit = storable(f"do not fit: {table.unfit(call.tool, call.arguments)}")
            return f"{tool} was called with arguments that {misfit}"
        case "repeated":
            allowed = f"it may be called no more than {how_often(repeat.times if repeat else 1)}"
            if plain_order(case) is not None:
                allowed = "each tool is to be called exactly once"
            elif part and part.replaces:
                allowed = "it had been called often enough"
            return f"{tool} was called again, and {allowed}"
        case "parallel":
            return f"{tool} was called in the same turn as the call before it"
        case "distractor":
            return f"{tool} was called, and no task asks for it"
        case "attempts":
            return f"{tool} was called in the last attempt"
