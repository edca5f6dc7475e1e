"""The defects that trials have shown, each of them once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from msgspec import structs

from misstep.core.finding import Finding, FindingKind, Richness
from misstep.core.tool import Invocation
from misstep.core.trial import Trial, Use
from misstep.tooling.asking.passage import RUNTIME_ERRORS
from misstep.tooling.judging.signatures import finding_id
from misstep.tooling.triage.richness import chao1


def with_requests(findings: Sequence[Finding], trials: Sequence[Trial], spec: str) -> list[Finding]:
    """The findings, those with a request to which one led, then those that only requests have shown."""
    shown = dict[tuple[str, str], Finding]()
    for each in _sightings(trials, spec):
        shown.setdefault((each.tool, each.signature), each)
    known = list[Finding]()
    for finding in findings:
        met = shown.pop((finding.tool, finding.signature), None)
        known.append(structs.replace(finding, request=met.request) if met else finding)
    return [*known, *shown.values()]


def richness_of(trials: Iterable[Trial]) -> Richness | None:
    """How many defects natural requests lead to in all, by how often each has been seen."""
    seen = Counter((finding.tool, finding.signature) for finding in _sightings(trials, ""))
    return chao1(list(seen.values())) if seen else None


def _sightings(trials: Iterable[Trial], spec: str) -> Iterator[Finding]:
    """A finding for every call that shows a defect, as if it were the first."""
    made = 0
    for trial in trials:
        for place, use in enumerate(trial.uses, 1):
            made += 1
            kind = use.judged.ruling
            if kind in RUNTIME_ERRORS:
                calls = tuple(Invocation(each.tool, each.arguments) for each in trial.uses[:place])
                yield _finding(use, cast("FindingKind", kind), calls, made, trial.request, spec)


def _finding(
    use: Use, kind: FindingKind, calls: tuple[Invocation, ...], found_after: int, request: str, spec: str
) -> Finding:
    judged = use.judged
    return Finding(
        id=finding_id(use.tool, kind, judged.signature),
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
        origin="a natural request",
        spec=spec,
        request=request,
    )
