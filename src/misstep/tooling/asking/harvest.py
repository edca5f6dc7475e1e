"""The defects that trials have shown, each of them once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import structs

from misstep.core.finding import BY_REQUEST, AgentReach, Finding, FindingKind, Richness, ToolReport
from misstep.core.reach_attempt import ReachAttempt
from misstep.core.tool import Invocation
from misstep.core.trial import Trial, Use
from misstep.tooling.asking.confirming import shows_defect
from misstep.tooling.asking.refusals import SAID, candidates_of, met_instead, stuck_at
from misstep.tooling.judging.signatures import finding_id
from misstep.tooling.triage.richness import chao1


def harvest(report: ToolReport, journey: AgentReach, spec: str, titles: Mapping[str, str]) -> list[Finding]:
    """The fuzzer's findings, those with a request to which one led, then those that only requests have shown.

    The last of these are refusals that nobody would have expected.
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
    """How many defects natural requests lead to in all, by how many trials have shown each.

    A trial is one sample: an agent that tries a call again and again has met one defect once.
    """
    seen = Counter(mark for trial in trials for mark in {_mark(each) for each in _sightings([trial], "", {})})
    return chao1(seen.values()) if seen else None


def _mark(finding: Finding) -> tuple[str, str]:
    return finding.tool, finding.signature


def _sightings(trials: Iterable[Trial], spec: str, titles: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for every call that shows a defect, as if it were the first."""
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
    """Those that a judge was surprised by, with the calls that the agent made."""
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
