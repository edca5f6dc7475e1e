"""All contracts: the calls that try them, and the judgement on what these calls showed."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from misstep.core.results.trial import REFUSALS, Judged, Ruling
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts import effects, pages, security, things
from misstep.fuzzing.contracts.promises import SECURITY
from misstep.fuzzing.contracts.steps import Breach, Calls, Step, Toolkit
from misstep.fuzzing.judging.endings import speaks_of_errors
from misstep.fuzzing.judging.reading import find_error
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.judging.wording import in_short


def experiments(kit: Toolkit) -> Iterator[Calls]:
    """Sequences of calls that may break a contract, each at most once."""
    seen = set[Calls]()
    refused = (calls for found in kit.refused.values() for calls in found)
    by_parts = (part.experiments(kit) for part in (effects, things, pages, security))
    for calls in chain(refused, *by_parts):
        if calls not in seen:
            seen.add(calls)
            yield calls


def judge_sequences_of(
    tools: Sequence[Described],
) -> Callable[[Sequence[Invocation], Sequence[Reaction]], Judged]:
    """A judge for sequences of calls: rules on the last call, or else on a contract that they break."""
    by_name, judge = {described.name: described for described in tools}, judge_calls_of(tools)

    def rule(calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> Judged:
        last = judge(calls[-1], reactions[-1])
        return last if last.ruling not in ("fine", "refused") else broken(calls, reactions) or last

    def broken(calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> Judged | None:
        steps = [
            Step(by_name[call.tool], json.loads(call.arguments), reaction, judge(call, reaction).ruling)
            for call, reaction in zip(calls, reactions, strict=True)
        ]
        breach = (
            security.find_breach(steps)
            or effects.find_breach(steps)
            or things.find_breach(steps, by_name)
            or pages.find_breach(steps)
            or _unflagged(steps[-1])
        )
        return _judged(breach) if breach else None

    return rule


_ERRORS = re.compile(r"error|fail|exception", re.IGNORECASE)


def _unflagged(step: Step) -> Breach | None:
    """Whether an MCP server reports an error as success."""
    if step.tool.kind != "mcp" or step.reaction.ended != "returned" or step.reaction.flagged:
        return None
    if speaks_of_errors(step.tool) or _ERRORS.search(json.dumps(step.arguments)):
        return None  # it may have been asked for one
    words = find_error(step.reaction.text, False) if step.ruling in REFUSALS else None
    if words is None:
        return None
    effect = f"the call failed, but isError is not set, as if it had succeeded: {in_short(words)}"
    return Breach("error flag", step.name, "", effect)


_REASONS = {
    "error flag": "results of failed calls have to say so",
    "path outside": "whoever writes the agent's input can read or change other files",
    "injection": "whoever writes the agent's input can run what they like",
    "stack trace": "it tells strangers about the server, and the agent nothing",
}


def _judged(breach: Breach) -> Judged:
    signature = f"contract: {breach.contract}: {breach.tool}"
    is_unsafe = breach.contract in SECURITY
    why = f"it promises {breach.words}" if breach.words else _REASONS[breach.contract]
    ruling: Ruling = "security" if is_unsafe else "contract"
    return Judged(ruling, why, signature, breach.contract, message=breach.effect, tool=breach.tool)
