"""Selects refusals of arguments that fit a tool's schema, as candidates to reproduce through the agent."""

import json
import re
from collections.abc import Mapping, Sequence

from msgspec import structs

from misstep.core.results.finding import Finding, Refusal
from misstep.core.results.trial import REFUSALS, Judged, Trial, Use
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.judging.demands import broken_demand
from misstep.fuzzing.judging.echoes import GivenValues, finding_id, normalise_for

MOST = 10  # candidates per tool, most frequent first
CUT = " more characters)"  # how a truncated message ends
FEWEST = 3  # words that a pattern needs to match other messages
SAID = "the documentation lets an agent ask for this, and the tool refuses it"

_WORD = re.compile(r"\w{2,}")


def candidates_of(refusals: Sequence[Refusal], spec: str, titles: Mapping[str, str]) -> list[Finding]:
    """The findings that these refusals would be, if they turn out to contradict the documentation."""
    often = sorted(refusals, key=lambda refusal: -refusal.seen)
    found = list[Finding]()
    for refusal in often:
        candidate = _candidate(refusal, spec, titles)
        if not any(_is_another_of(candidate, each) for each in found):
            found.append(candidate)
    return found[:MOST]


def stuck_at(trial: Trial, tool: str) -> int | None:
    """The index of the tool's last call, if it was refused and the agent did not try again."""
    places = [place for place, use in enumerate(trial.uses) if use.tool == tool]
    if not trial.is_usable or not places or trial.uses[places[-1]].judged.ruling not in REFUSALS:
        return None
    return places[-1]


def fits(arguments: str, tool: Described) -> bool:
    """Whether the tool's own schema allows the arguments: refusing what it forbids is correct."""
    try:
        return not broken_demand(tool.tool.parameters, json.loads(arguments))
    except ValueError:  # not JSON, because a secret in it was masked
        return False


def is_same_refusal(candidate: Finding, judged: Judged, call: Invocation) -> bool:
    """Whether the call was refused with the candidate's message, apart from parts of the arguments."""
    said = normalise_for(judged.message or judged.why, GivenValues.of(call))
    return judged.ruling in REFUSALS and _words_of(candidate) in said


def met_instead(candidate: Finding, use: Use) -> Finding:
    """The refusal that the call met: the candidate, or a different one of the same tool."""
    words = normalise_for(use.result, GivenValues.of(use.call))
    if _words_of(candidate) in words:
        return candidate
    signature = f"refused: {words}"
    return structs.replace(
        candidate,
        id=finding_id(use.tool, "refusal", signature),
        error=use.judged.error or "refused",
        where=use.judged.where,
        message=use.result,
        signature=signature,
    )


def _words_of(candidate: Finding) -> str:
    return normalise_for(candidate.message, GivenValues.of(candidate.calls[-1]))


def _is_another_of(one: Finding, other: Finding) -> bool:
    """Whether two refusals are the same: equal, or at the same code location and equal apart from arguments.

    An argument may be a word that the tool uses anyway, or so long that the message was truncated.
    """
    mine, others = (each.signature.removesuffix(CUT) for each in (one, other))
    return mine == others or (bool(one.where) and (_is_like(mine, others) or _is_like(others, mine)))


def _is_like(pattern: str, text: str) -> bool:
    """Whether the text matches the pattern, in which `…` stands for anything."""
    first, *rest = pattern.split("…")
    if not rest or len(_WORD.findall(pattern.partition(" in ")[2])) < FEWEST or not text.startswith(first):
        return False
    at = len(first)
    for piece in rest:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return text.endswith(rest[-1])


def _candidate(refusal: Refusal, spec: str, titles: Mapping[str, str]) -> Finding:
    call = Invocation(refusal.tool, refusal.arguments)
    words = normalise_for(refusal.message, GivenValues.of(call))
    signature = f"refused: {refusal.error} {refusal.where} {words}"
    return Finding(
        id=finding_id(titles.get(refusal.tool, refusal.tool), "refusal", signature),
        tool=refusal.tool,
        kind="refusal",
        error=refusal.error or "refused",
        where=refusal.where,
        message=refusal.message,
        why=SAID,
        signature=signature,
        calls=(call,),
        original=(call,),
        found_after=0,
        seen=refusal.seen,
        spec=spec,
    )
