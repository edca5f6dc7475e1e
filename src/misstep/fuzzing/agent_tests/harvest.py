"""Turns trials and refusals into findings, and asks a model directly for requests that crash a tool."""

import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import structs

from misstep.core.model import Unusable
from misstep.core.results.finding import Finding, FindingKind
from misstep.core.results.fuzzing import (
    BY_REQUEST,
    AgentReach,
    ReachAttempt,
    ReachOutcome,
    Refusal,
    Richness,
    ToolReport,
)
from misstep.core.results.trial import REFUSALS, Judged, Trial, Use
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.parties import (
    AgentTrials,
    Models,
    confirmed,
    shows_defect,
    told,
    trouble_with,
)
from misstep.fuzzing.agent_tests.requests import Outright, ask_outright, lacking
from misstep.fuzzing.judging.demands import broken_demand
from misstep.fuzzing.judging.echoes import GivenValues, finding_id, normalise_for
from misstep.fuzzing.triage.defect_index import chao1, finding_of

MOST = 10  # candidates per tool, most frequent first
CUT = " more characters)"  # how a truncated message ends
FEWEST = 3  # words that a pattern needs to match other messages
SAID = "the documentation allows this call, but the tool refuses it"

_WORD = re.compile(r"\w{2,}")


def candidates_of(refusals: Sequence[Refusal], spec: str, titles: Mapping[str, str]) -> list[Finding]:
    """The findings that these refusals would be, if they turn out to contradict the documentation."""
    found = list[Finding]()
    for refusal in sorted(refusals, key=lambda refusal: -refusal.seen):
        call = Invocation(refusal.tool, refusal.arguments)
        words = normalise_for(refusal.message, GivenValues.of(call))
        signature = f"refused: {refusal.error} {refusal.where} {words}"
        error = refusal.error or "refused"
        judged = Judged("refused", SAID, signature, error, refusal.where, refusal.message)
        candidate = finding_of(judged, "refusal", [call], 0, titles.get(refusal.tool, ""))
        candidate = structs.replace(candidate, seen=refusal.seen, spec=spec)
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


def harvest(report: ToolReport, journey: AgentReach, spec: str, titles: Mapping[str, str]) -> list[Finding]:
    """Merge the fuzzer's findings with what the trials showed, each defect once.

    The order is: the fuzzer's findings (with a request that led to them, if there is one), defects that only
    requests have shown, and refusals that surprised the judge.
    """
    sightings = list(_sightings(journey.trials, spec, titles))
    often = Counter(_mark(finding) for finding in sightings)
    shown = {_mark(finding): finding for finding in reversed(sightings)}
    known = list[Finding]()
    for finding in report.findings:
        if finding.origin != BY_REQUEST:
            met = shown.pop(_mark(finding), None)
            known.append(structs.replace(finding, request=met.request) if met else finding)
    fresh = [structs.replace(each, seen=often[mark]) for mark, each in reversed(shown.items())]
    candidates = {each.id: each for each in candidates_of(report.refusals, spec, titles)}
    return [*known, *fresh, *_refusals(journey.passages, candidates)]


def richness_of(trials: Iterable[Trial]) -> Richness | None:
    """Estimate how many defects natural requests can reach, from the number of trials that showed each.

    A trial is one sample: an agent that repeats a failing call has met the defect once.
    """
    seen = Counter(mark for trial in trials for mark in {_mark(each) for each in _sightings([trial], "", {})})
    return chao1(seen.values()) if seen else None


def _mark(finding: Finding) -> tuple[str, str]:
    return finding.tool, finding.signature


def _sightings(trials: Iterable[Trial], spec: str, titles: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for every call that shows a defect, with duplicates."""
    uses = [(trial, place, use) for trial in trials for place, use in enumerate(trial.uses)]
    for number, (trial, place, use) in enumerate(uses, 1):
        if not shows_defect(use):
            continue
        kind, title = cast("FindingKind", use.judged.ruling), titles.get(use.tool, "")
        found = finding_of(use.judged, kind, trial.calls_up_to(place), number, title)
        counts = {"replayed": use.replayed, "reproduced": use.reproduced}
        yield structs.replace(found, origin=BY_REQUEST, spec=spec, request=trial.request, **counts)


def _refusals(passages: Sequence[ReachAttempt], candidates: Mapping[str, Finding]) -> Iterator[Finding]:
    """Refusals that surprised the judge, with the calls that the agent made."""
    for passage in passages:
        candidate = candidates.get(passage.finding)
        if candidate is None or passage.fate != "reached":
            continue
        trial = passage.trials[-1]
        place = stuck_at(trial, candidate.tool)
        if place is None:
            continue
        calls = trial.calls_up_to(place)
        yield structs.replace(
            met_instead(candidate, trial.uses[place]),
            calls=calls,
            original=calls,
            why=f"{SAID}: {passage.why}",
            request=trial.request,
            replayed=1,
            reproduced=1,
            origin=BY_REQUEST,
            found_after=len(calls),
        )


AT_A_TIME = 10  # requests per question to the model


async def ask_for_crashes(
    means: Outright,
    tool: Described,
    models: Models,
    trials: AgentTrials,
    count: int,
    before: Sequence[str],
    ideas: list[str],
) -> AsyncGenerator[ReachAttempt]:
    """Run up to `count` requests that a model expects to crash the tool, including those run `before`.

    No request is used twice. If the model has no more, the last attempt says why. `ideas` holds all requests
    the model has proposed, run or not; new ones are appended, so that a caller who saves it can resume.
    """
    if why := lacking(means, tool):
        yield ReachAttempt("", "inconclusive", why, matter="request")
        return
    run = list(before)
    ideas += [each for each in run if each not in ideas]
    while len(run) < count:
        waiting = [each for each in ideas if each not in run][: count - len(run)]
        try:
            wanted = min(AT_A_TIME, count - len(run))
            ideas += () if waiting else await ask_outright("crashes", means, tool, models, wanted, ideas)
        except Unusable as error:
            why = f"no {'more ' if ideas else ''}requests were generated: {told(error)}"
            yield ReachAttempt("", "inconclusive", why, matter="request")
            return
        for request in waiting:
            run.append(request)
            yield passage_of(await confirmed(await trials.run(request, [tool.name]), trials))


def passage_of(trial: Trial) -> ReachAttempt:
    """The outcome of a request that did not start from a known defect."""
    reached = any(shows_defect(use) for use in trial.uses)
    why = "" if reached else trouble_with(trial)
    fate: ReachOutcome = "reached" if reached else "inconclusive" if why else "unmet"
    return ReachAttempt("", fate, why, matter="request", requests=(trial.request,), trials=(trial,))
