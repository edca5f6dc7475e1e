"""All contracts: the calls that try them, and the judgement on what these calls showed."""

import json
import re
from collections.abc import Callable, Collection, Generator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from misstep.core.results.trial import REFUSALS, Judged, Ruling
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts import (
    effects,
    examples,
    hidden,
    pages,
    protocol,
    record_looks,
    records,
    security,
    sql,
    things,
)
from misstep.fuzzing.contracts.effects import TWO_WORDS
from misstep.fuzzing.contracts.promises import SECURITY, promises_of
from misstep.fuzzing.contracts.steps import (
    Breach,
    Calls,
    Experiments,
    Step,
    Toolkit,
    call_of,
    is_fine,
    parameters,
    required,
    stems_of,
)
from misstep.fuzzing.judging.endings import speaks_of_errors
from misstep.fuzzing.judging.reading import find_error
from misstep.fuzzing.judging.ruling import FINE, judge_calls_of
from misstep.fuzzing.judging.wording import in_short
from misstep.fuzzing.search.sequences import stage_of

ENOUGH_REFUSED = 2  # calls of a tool that promises nothing about them
ENOUGH_MAKERS = 2  # tried for a tool


def experiments(kit: Toolkit) -> Experiments:
    """Sequences of calls that may break a contract, each at most once, the most telling first."""
    seen = set[Calls]()
    kit = yield from _prepared(kit)
    for part in (_samples, sql, things, records, effects, pages, examples, security, protocol):
        proposed = part(kit) if callable(part) else part.experiments(kit)
        steps = None
        while (calls := next_of(proposed, steps)) is not None:
            steps = None
            if calls not in seen:
                seen.add(calls)
                steps = yield calls


def _prepared(kit: Toolkit) -> Generator[Calls, Sequence[Step] | None, Toolkit]:
    """For tools that may need what another tool makes, calls about what it has just made."""
    accepted = dict(kit.accepted)
    for name, described in kit.tools.items():
        known = kit.accepted.get(name, ())
        wanted = {key: parameters(described).get(key, {}) for key in required(described)}
        is_text = all(schema.get("type") == "string" for schema in wanted.values())
        if not is_text or any(len(calls) > 1 for calls in known) or (known and stage_of(name) not in (2, 3)):
            continue
        for maker, made in _makers_for(name, wanted, kit):
            given = {**dict.fromkeys(wanted, TWO_WORDS[0]), **(kit.base(name) or {})}
            shared = {key: made[key] for key in wanted if key in made}
            calls = (call_of(maker, made), call_of(name, {**given, **shared}))
            if is_fine((yield calls)):
                accepted[name] = [calls, *known]
                break
    return msgspec.structs.replace(kit, accepted=accepted)


def _makers_for(name: str, wanted: Collection[str], kit: Toolkit) -> list[tuple[str, dict[str, Any]]]:
    """The tools that make something, with arguments that name what is wanted, those most alike first."""
    kin = {each: len(stems_of(each) & stems_of(name)) for each in kit.tools if stage_of(each) == 0}
    likely = sorted((each for each in kin if kin[each]), key=lambda each: -kin[each])
    found = ((each, kit.base(each) or {}) for each in likely)
    return list(islice(((each, made) for each, made in found if made.keys() & {*wanted}), ENOUGH_MAKERS))


def next_of(proposed: Experiments, steps: Sequence[Step] | None) -> Calls | None:
    """The next sequence of calls, after the last one led to these steps; None if there are no more."""
    try:
        return proposed.send(steps)
    except StopIteration:
        return None


def _samples(kit: Toolkit) -> Experiments:
    """What was accepted and what was refused, whose replies alone may break a contract."""
    for name in kit.tools:
        most = None if any(promises_of(kit.tools[name])) else ENOUGH_REFUSED
        accepted = sorted(kit.accepted.get(name, ()), key=len)[:1]
        for calls in (*accepted, *kit.refused.get(name, ())[:most]):  # noqa: UP028
            yield calls  # a list can't be sent the steps


StepReader: TypeAlias = Callable[[Sequence[Invocation], Sequence[Reaction]], list[Step]]


def read_steps_of(tools: Sequence[Described]) -> StepReader:
    """Judges calls of these tools one by one."""
    by_name, judge = {described.name: described for described in tools}, judge_calls_of(tools)

    def alone(call: Invocation, reaction: Reaction) -> Judged:
        # What an unlisted tool replies says nothing about the tool whose arguments it got.
        is_reply = reaction.ended in ("returned", "raised")
        return FINE if call.sent == "unlisted" and is_reply else judge(call, reaction)

    def read(calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> list[Step]:
        return [
            Step(by_name[call.tool], json.loads(call.arguments), reaction, alone(call, reaction), call.sent)
            for call, reaction in zip(calls, reactions, strict=True)
        ]

    return read


def judge_steps(steps: Sequence[Step]) -> Judged:
    """The ruling on the last call, or else on a contract that the calls break together."""
    last = steps[-1].judged
    if any(step.sent not in ("in turn", "afresh") for step in steps):
        breach = protocol.find_breach(steps)
    elif last.ruling not in ("fine", "refused"):
        return last
    else:
        tools = {step.name: step.tool for step in steps}
        breach = (
            security.find_breach(steps)
            or effects.find_breach(steps)
            or things.find_breach(steps, tools)
            or record_looks.find_breach(steps)
            or sql.find_breach(steps)
            or pages.find_breach(steps)
            or examples.find_breach(steps)
            or _unflagged(steps[-1])
            or _wrongly_flagged(steps[-1])
            or hidden.find_breach(steps)
        )
    return _judged(breach) if breach else last


def judge_sequences_of(
    tools: Sequence[Described],
) -> Callable[[Sequence[Invocation], Sequence[Reaction]], Judged]:
    """A judge for sequences of calls: rules on the last call, or else on a contract that they break."""
    read = read_steps_of(tools)
    return lambda calls, reactions: judge_steps(read(calls, reactions))


_ERRORS = re.compile(r"error|fail|exception", re.IGNORECASE)


def _unflagged(step: Step) -> Breach | None:
    """Whether an MCP server reports an error as success."""
    if step.tool.kind != "mcp" or step.reaction.ended != "returned" or step.reaction.flagged:
        return None
    if speaks_of_errors(step.tool) or _ERRORS.search(json.dumps(step.arguments)):
        return None  # it may have been asked for one
    words = find_error(step.reaction.text, False) if step.judged.ruling in REFUSALS else None
    if words is None:
        return None
    return Breach("error flag", step.name, "", f"{protocol.UNFLAGGED}: {in_short(words)}")


_SUCCESS = re.compile(
    r"[^\w{[]*(?:success(?=[.!]|\s*$)|successfully \w"
    r"|(?:[\w'\"]+ ){1,8}?(?:successfully \w|\w+ successfully\b))"
    r'|\{\s*"(?:success|ok)"\s*:\s*true\b',
    re.IGNORECASE,
)
# Words by which a text that speaks of success may still report something else.
_DOUBTS = re.compile(
    r"\b(?:not?|none|nothing|never|without|but|however|although|only|partial\w*|some|if|unless|until|must|should"
    r"|cannot|unable|invalid|missing|denied|refused|required|warnings?|already|0|zero|un\w*|\w*errors?|fail\w*"
    r"|exceptions?|could|would|can|to be|time[sd]? ?out|cancel+ed|abort\w*|reject\w*|declin\w*|forbidden"
    r"|block\w*|status|exit\w*|codes?|problems?|issues?|violations?|conflicts?|mismatch\w*|crash\w*|kill\w*"
    r"|[1-5]\d\d)\b|n't\b",
    re.IGNORECASE,
)
_LONGEST_SUCCESS = 300  # characters


def _wrongly_flagged(step: Step) -> Breach | None:
    """Whether an MCP server reports success as an error: a short text says so, and no word doubts it."""
    text = step.reaction.text
    if step.tool.kind != "mcp" or step.reaction.ended != "returned" or not step.reaction.flagged:
        return None
    if len(text) > _LONGEST_SUCCESS or not _SUCCESS.match(text) or _DOUBTS.search(text):
        return None
    if "success" in json.dumps(step.arguments).lower():
        return None  # the words may be the caller's
    effect = f"isError is set, as if the call had failed, but it says: {in_short(text)}"
    return Breach("success flagged", step.name, "", effect)


_REASONS = {
    "error flag": "isError must say whether a call failed",
    "success flagged": "isError must say whether a call failed",
    "path outside": "whoever writes the agent's input can read or change other files",
    "injection": "whoever writes the agent's input can run what they like",
    "stack trace": "it tells strangers about the server, and the agent nothing",
    "secret": "whoever reads the reply gets it",
    "hidden text": "agents read it and people don't see it",
    "cancellation": "clients cancel requests at any time",
    "time-out": "clients give up after a time limit and go on",
    "concurrency": "clients may send several requests at once",
    "unlisted tool": "clients need an error for an unknown tool",
}


def _judged(breach: Breach) -> Judged:
    signature = f"contract: {breach.contract}: {breach.tool}"
    is_unsafe = breach.contract in SECURITY
    why = f"it promises {breach.words}" if breach.words else _REASONS[breach.contract]
    ruling: Ruling = "security" if is_unsafe else "contract"
    return Judged(ruling, why, signature, breach.contract, message=breach.effect, tool=breach.tool)
