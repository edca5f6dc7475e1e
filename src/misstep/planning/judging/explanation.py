"""Reasons for a verdict: what went wrong, which sentence says so, what would have been right."""

from collections.abc import Sequence

import msgspec

from misstep.core.case import Case
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict
from misstep.planning.judging.check import Parallel, Trace, judge_trace, trace_calls
from misstep.planning.plans.order import Order, nearest_order


def check(case: Case, transcript: Transcript, parallel: Parallel = "ordered") -> Verdict:
    """Judge a transcript and give the reasons."""
    trace = trace_calls(case, transcript.calls, parallel)
    verdict = judge_trace(case, transcript, trace)
    if verdict.verdict == "passed":
        return verdict
    nearest = nearest_plan(case, trace) if verdict.error else ()
    return msgspec.structs.replace(
        verdict, nearest=nearest, explanation=_explain(case, transcript, verdict, trace)
    )


def nearest_plan(case: Case, trace: Trace) -> tuple[str, ...]:
    """The correct plan, as action ids, that swaps the fewest pairs of the agent's own order."""
    numbers = {action.id: number for number, action in enumerate(case.actions)}
    order = Order(len(numbers), [(numbers[c.first], numbers[c.then]) for c in case.constraints])
    return tuple([case.actions[i].id for i in nearest_order(order, [numbers[i] for i in trace.places])])


def _explain(case: Case, transcript: Transcript, verdict: Verdict, trace: Trace) -> str:
    match verdict.error:
        case "timeout":
            limit = "time" if transcript.ended == "timeout" else "steps"
            done, total = len(trace.places), len(case.actions)
            return f"The limit on {limit} was reached with {done} of {total} actions carried out."
        case "act":
            return _explain_act(transcript, trace)
        case "lost":
            return _explain_lost(case, verdict.missing)
        case "order":
            return _explain_order(case, verdict)
        case _:
            return transcript.error or "The agent could not be run."


def _explain_act(transcript: Transcript, trace: Trace) -> str:
    assert trace.unfit is not None
    step, fault = trace.unfit
    tool = _quoted(transcript.calls[step - 1].tool)
    said = {
        "unknown": f"there is no tool {tool}",
        "arguments": f"{tool} was called with arguments that it does not take",
        "repeated": f"{tool} was called again, and each tool is to be called exactly once",
        "parallel": f"{tool} was called in the same turn as the call before it",
    }
    return f"Step {step} is not a valid call: {said[fault]}."


def _explain_lost(case: Case, missing: Sequence[str]) -> str:
    names = [f"the {action.name}" for action in case.actions if action.id in missing]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"{listed[0].upper()}{listed[1:]} {'was' if len(names) == 1 else 'were'} never carried out."


def _explain_order(case: Case, verdict: Verdict) -> str:
    constraint = case.constraints[verdict.core[0]]
    names = {action.id: action.name for action in case.actions}
    first, then = names[constraint.first], names[constraint.then]
    text = f"Step {verdict.step}, the {then}, came too early: the {first} has to be carried out before it."
    if constraint.sentence is not None and constraint.sentence < len(case.sentences):
        text += f" Sentence {constraint.sentence + 1} says so: “{case.sentences[constraint.sentence]}”"
    others = len(verdict.violated) - 1
    if others:
        text += f" {others} more {'constraint is' if others == 1 else 'constraints are'} broken."
    return text


def _quoted(name: str, most: int = 80) -> str:
    """A name that comes from outside, short and on one line."""
    return repr(name if len(name) <= most else name[:most] + "…")
