"""Turns trials of an agent into findings, and asks a model directly for requests that crash a tool.

The direct requests are a baseline that fuzzing is compared with.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import structs

from misstep.core.model import Unusable
from misstep.core.results.finding import (
    BY_REQUEST,
    AgentReach,
    Finding,
    FindingKind,
    ReachAttempt,
    ReachOutcome,
    Richness,
    ToolReport,
)
from misstep.core.results.trial import Trial, Use
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.parties import (
    AgentTrials,
    Models,
    confirmed,
    shows_defect,
    told,
    trouble_with,
)
from misstep.fuzzing.agent_tests.refusals import SAID, candidates_of, met_instead, stuck_at
from misstep.fuzzing.agent_tests.requests import Outright, ask_outright, lacking
from misstep.fuzzing.judging.echoes import finding_id
from misstep.fuzzing.triage.refusals import chao1


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
    made = 0
    for trial in trials:
        for place, use in enumerate(trial.uses):
            made += 1
            if shows_defect(use):
                title = titles.get(use.tool, use.tool)
                yield _finding(use, title, trial.calls_up_to(place), made, trial.request, spec)


def _finding(
    use: Use, title: str, calls: tuple[Invocation, ...], found_after: int, request: str, spec: str
) -> Finding:
    judged, kind = use.judged, cast("FindingKind", use.judged.ruling)
    return Finding(
        id=finding_id(title, kind, judged.signature),
        tool=use.tool,
        kind=kind,
        error=judged.error,
        where=judged.where,
        message=judged.message,
        why=judged.why,
        signature=judged.signature,
        calls=calls,
        original=calls,
        found_after=found_after,
        replayed=use.replayed,
        reproduced=use.reproduced,
        origin=BY_REQUEST,
        spec=spec,
        request=request,
    )


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
        yield _nothing(why)
        return
    run = list(before)
    ideas += [each for each in run if each not in ideas]
    while len(run) < count:
        waiting = [each for each in ideas if each not in run][: count - len(run)]
        try:
            wanted = min(AT_A_TIME, count - len(run))
            ideas += () if waiting else await ask_outright("crashes", means, tool, models, wanted, ideas)
        except Unusable as error:
            yield _nothing(f"no {'more ' if ideas else ''}requests were made: {told(error)}")
            return
        for request in waiting:
            run.append(request)
            yield passage_of(await confirmed(await trials.run(request, [tool.name]), trials))


def passage_of(trial: Trial) -> ReachAttempt:
    """The outcome of a request that did not start from a known defect."""
    if any(shows_defect(use) for use in trial.uses):
        return ReachAttempt("", "reached", matter="request", requests=(trial.request,), trials=(trial,))
    why = trouble_with(trial)
    fate: ReachOutcome = "inconclusive" if why else "unmet"
    return ReachAttempt("", fate, why, matter="request", requests=(trial.request,), trials=(trial,))


def _nothing(why: str) -> ReachAttempt:
    return ReachAttempt("", "inconclusive", why, matter="request")
