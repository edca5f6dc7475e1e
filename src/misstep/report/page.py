"""A run as one HTML file that needs nothing else."""

from collections.abc import Iterator, Sequence

import msgspec

from misstep.core.baseline import Held
from misstep.core.benchmark import BenchmarkReport
from misstep.core.breakdown import Breakdown
from misstep.core.capability import Capability
from misstep.core.consistency import ConsistencyRun
from misstep.core.crosstalk import CrosstalkReport
from misstep.core.diagnosis import Dissection
from misstep.core.finding import FuzzReport
from misstep.core.fixing import FixRun
from misstep.core.reduction import Reduction
from misstep.core.run_spec import BENCHMARKS, ON_TOOLS
from misstep.core.summary import Summary
from misstep.report.naming import specs_in_short
from misstep.report.published import Level
from misstep.report.terminal import RunRow
from misstep.report.web import frontend, sections
from misstep.report.web.about import about, in_one_line
from misstep.report.web.case_bundle import CaseBundle
from misstep.report.web.defects import defects
from misstep.report.web.faulty_sets import faulty_sets
from misstep.report.web.markup import Markup, element, text, together, verbatim
from misstep.report.web.noise import noise
from misstep.report.web.tasks import tasks
from misstep.report.web.wordings import wordings

TITLE = 120


class Findings(msgspec.Struct, frozen=True):
    """What is known about a run. `cases` are those that can be looked into; `place` is what has to be added
    to a command so that it finds the store. `run` says how it was set up, `held` how it stands against its
    baseline, `levels` what others have published on how far agents get."""

    summary: Summary
    cases: CaseBundle | None = None
    capabilities: Sequence[Capability] = ()
    dissections: Sequence[Dissection] = ()
    breakdowns: Sequence[Breakdown] = ()
    place: str = ""
    reduction: Reduction | None = None
    run: RunRow | None = None
    tools: FuzzReport | None = None
    answers: ConsistencyRun | None = None
    tasks: BenchmarkReport | None = None
    groups: CrosstalkReport | None = None
    fixes: FixRun | None = None
    held: Held | None = None
    levels: Sequence[Level] = ()


def run_page(findings: Findings) -> str:
    """Everything that is known about a run."""
    return page(title_of(findings), tuple(run_parts(findings)), findings.cases)


def curves_page(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> str:
    """Curves by themselves, without the runs that they came from."""
    failed = any(sum(curve.errors.values()) for curve in curves)
    parts = (sections.capability(curves, levels), *([sections.errors(curves)] if failed else []))
    return page("Success by number of actions", parts)


def title_of(findings: Findings) -> str:
    summary, run = findings.summary, findings.run
    on_tools = run is not None and run.purpose.verb in ON_TOOLS
    subject = specs_in_short(run.purpose.tools, TITLE) if run and on_tools else summary.agent
    return f"{subject} · run {summary.run}"


def page(title: str, parts: Sequence[Markup], cases: CaseBundle | None = None) -> str:
    """A page with these parts below its title, and the cases that its scripts show; it needs no network."""
    scripts = [*([frontend.asset(frontend.LIBRARY)] if cases else []), frontend.script()]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title, TITLE)),
        element("style", verbatim(frontend.style())),
    )
    main = element("main", element("h1", text(title, TITLE)), *parts, id="report")
    run = [element("script", verbatim(script)) for script in scripts]
    ends = cases.held(*run) if cases else together(*run)
    body = element("body", main, element("footer", "made by misstep"), ends)
    return f"<!doctype html>\n{element('html', head, body, lang='en').source}\n"


def _policy(scripts: Sequence[str]) -> str:
    """These scripts and no other, nothing from elsewhere."""
    allowed = " ".join(map(frontend.allowance, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def run_parts(findings: Findings) -> Iterator[Markup]:
    """The page of a run below its title; a server puts the same into a page of its own."""
    summary, run = findings.summary, findings.run
    if run:
        with_tools = run.purpose.verb in (*ON_TOOLS, *BENCHMARKS)
        yield about(run, _shelters(findings), summary) if with_tools else in_one_line(run)
    if findings.held:
        yield sections.baseline(findings.held)
    if findings.groups:
        yield from noise(findings.groups)
        return
    if findings.fixes:
        yield from wordings(findings.fixes, findings.place)
        return
    if findings.tools:
        yield from defects(findings.tools, findings.place)
        return
    if findings.answers:
        yield from faulty_sets(findings.answers, findings.place)
        return
    if findings.tasks:
        yield sections.success(summary, "task")
        yield from tasks(findings.tasks, findings.place)
        return
    if findings.dissections or findings.reduction:
        # How often changed cases pass says nothing about the agent.
        yield sections.counts(summary)
        yield from _looked_into(findings)
        return
    yield sections.success(summary)
    yield sections.counts(summary)
    if findings.capabilities:
        yield sections.capability(findings.capabilities, findings.levels)
        if summary.failed:
            yield sections.errors(findings.capabilities)
    for breakdown in findings.breakdowns:
        yield sections.portions(breakdown)
    if findings.cases:
        yield findings.cases.section()


def _shelters(findings: Findings) -> list[str]:
    """What kept tools from doing harm."""
    found = [
        tool.sandbox
        for each in (findings.tools, findings.answers, findings.fixes)
        if each
        for tool in each.tools
    ]
    found += [group.sandbox for group in findings.groups.groups] if findings.groups else []
    return found + ([task.sandbox for task in findings.tasks.tasks] if findings.tasks else [])


def _looked_into(findings: Findings) -> Iterator[Markup]:
    if findings.dissections:
        yield sections.causes(findings.dissections, linked=findings.cases is not None)
        if findings.cases:
            yield findings.cases.aside()
    elif findings.cases:
        yield findings.cases.single("The smallest that still fails")
