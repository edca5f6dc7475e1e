"""A run as one HTML file that needs nothing else.

A run as a plain page, where there is none of its own kind.
"""

from collections.abc import Iterator, Sequence

import msgspec

from misstep.core.results.benchmark import BenchmarkReport
from misstep.core.results.capability import Capability
from misstep.core.results.comparison import Breakdown, Held
from misstep.core.results.consistency import ConsistencyRun
from misstep.core.results.crosstalk import CrosstalkReport
from misstep.core.results.diagnosis import Dissection, Reduction
from misstep.core.results.finding import FuzzReport
from misstep.core.results.fixing import FixRun
from misstep.core.results.report import Issue, ReportItem, RunReport
from misstep.core.results.summary import Summary
from misstep.core.run import BENCHMARKS, ON_TOOLS
from misstep.features.bench.view import tasks
from misstep.features.capability.view import Level
from misstep.features.consistency.view import faulty_sets
from misstep.features.crosstalk.view import noise
from misstep.features.fix.view import wordings
from misstep.features.tool_fuzz.page import defects
from misstep.rendering.comparison import held_in_words
from misstep.rendering.html import assets, sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.markup import Markup, element, lines, text, together, verbatim
from misstep.rendering.html.sections import about, in_one_line
from misstep.rendering.terminal import RunRow
from misstep.rendering.words import specs_in_short

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
    scripts = [*([assets.asset(assets.LIBRARY)] if cases else []), assets.script()]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title, TITLE)),
        element("style", verbatim(assets.style())),
    )
    main = element("main", element("h1", text(title, TITLE)), *parts, id="report")
    run = [element("script", verbatim(script)) for script in scripts]
    ends = cases.held(*run) if cases else together(*run)
    body = element("body", main, element("footer", "made by misstep"), ends)
    return f"<!doctype html>\n{element('html', head, body, lang='en').source}\n"


def _policy(scripts: Sequence[str]) -> str:
    """These scripts and no other, nothing from elsewhere."""
    allowed = " ".join(map(assets.allowance, scripts))
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


LONGEST_TITLE = 200  # characters


def outline(statement: RunReport) -> str:
    """What was judged, with all that is wrong with it."""
    name = f"misstep {statement.command} · {statement.subject}"
    return page(f"{name} · run {statement.run}" if statement.run else name, tuple(_parts(statement)))


def _parts(statement: RunReport) -> Iterator[Markup]:
    counted = ", ".join(f"{count} {verdict}" for verdict, count in statement.counts.items() if count)
    yield element("p", f"{statement.total} {statement.unit}s: {counted or 'nothing was judged'}")
    for told in (statement.unfinished, held_in_words(statement.held) if statement.held else ""):
        if told:
            yield element("p", told)
    for entry in statement.entries(None):
        yield element(
            "section", element("h2", text(f"{entry.name}: {entry.verdict}", LONGEST_TITLE)), *_entry(entry)
        )


def _entry(entry: ReportItem) -> Iterator[Markup]:
    if entry.reason:
        yield element("p", text(entry.reason))
    for flaw in entry.flaws:
        yield element("details", element("summary", text(flaw.title, LONGEST_TITLE)), *_flaw(flaw))


def _flaw(flaw: Issue) -> Iterator[Markup]:
    yield element("p", text(flaw.text))
    told = [flaw.misstep, *flaw.calls, *(f"{name}: {said}" for name, said in flaw.details.items())]
    if any(told):
        yield element("pre", lines("\n".join(filter(None, told))))
    if flaw.replay:
        yield element("pre", lines(flaw.replay))
