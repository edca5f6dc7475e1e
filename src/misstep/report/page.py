"""A run as one HTML file that needs nothing else."""

from collections.abc import Iterator, Sequence
from importlib.resources import files

import msgspec

from misstep.core.benchmark import BenchmarkReport
from misstep.core.breakdown import Breakdown
from misstep.core.capability import Capability
from misstep.core.consistency import ConsistencyRun
from misstep.core.diagnosis import Dissection
from misstep.core.finding import FuzzReport
from misstep.core.outcome import Outcome
from misstep.core.reduction import Reduction
from misstep.core.summary import Summary
from misstep.report.naming import specs_in_short
from misstep.report.terminal import RunRow
from misstep.report.web import sections
from misstep.report.web.about import about
from misstep.report.web.defects import defects
from misstep.report.web.failures import failures
from misstep.report.web.faulty_sets import faulty_sets
from misstep.report.web.markup import Markup, element, text
from misstep.report.web.tasks import tasks

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # no scripts, nothing from elsewhere
TITLE = 120


class Findings(msgspec.Struct, frozen=True):
    """What is known about a run. `failures` are some that did not pass; `place` is what has to be added to a
    command so that it finds the store. `run` says how tools were tested, or an agent with them."""

    summary: Summary
    failures: Sequence[Outcome] = ()
    capabilities: Sequence[Capability] = ()
    dissections: Sequence[Dissection] = ()
    breakdowns: Sequence[Breakdown] = ()
    place: str = ""
    reduction: Reduction | None = None
    run: RunRow | None = None
    tools: FuzzReport | None = None
    answers: ConsistencyRun | None = None
    tasks: BenchmarkReport | None = None


def run_page(findings: Findings) -> str:
    """Everything that is known about a run."""
    summary, run = findings.summary, findings.run
    subject = specs_in_short(run.purpose.tools, TITLE) if run and not findings.tasks else summary.agent
    return page(f"{subject} · run {summary.run}", tuple(_parts(findings)))


def page(title: str, parts: Sequence[Markup]) -> str:
    """A page with these parts below its title; it needs no scripts and no network."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title, TITLE)),
        Markup(f"<style>{_style()}</style>"),
    )
    heading = element("h1", text(title, TITLE))
    body = element("body", element("main", heading, *parts), element("footer", "made by misstep"))
    return f"<!doctype html>\n{element('html', head, body, lang='en').source}\n"


def _style() -> str:
    return (files("misstep.report") / "data" / "page.css").read_text("utf-8")


def _parts(findings: Findings) -> Iterator[Markup]:
    summary = findings.summary
    if findings.run:
        shelters = [
            tool.sandbox for each in (findings.tools, findings.answers) if each for tool in each.tools
        ]
        shelters += [task.sandbox for task in findings.tasks.tasks] if findings.tasks else []
        yield about(findings.run, shelters, summary)
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
        yield from _looked_into(findings)
        yield sections.counts(summary)
        return
    yield sections.success(summary)
    yield sections.counts(summary)
    if findings.capabilities:
        yield sections.capability(findings.capabilities)
    if summary.failed:
        yield sections.errors(summary, findings.capabilities)
    for breakdown in findings.breakdowns:
        yield sections.portions(breakdown)
    if findings.failures:
        yield _failures(findings)


def _looked_into(findings: Findings) -> Iterator[Markup]:
    if findings.dissections:
        yield sections.causes(findings.dissections)
    if findings.reduction and findings.reduction.outcome:
        shown = failures([findings.reduction.outcome], findings.summary.run, findings.place)
        yield sections.section("The smallest that still fails", *shown)


def _failures(findings: Findings) -> Markup:
    summary = findings.summary
    hidden = summary.cases - summary.passed - len(findings.failures)
    more = [element("p", f"… and {hidden:,} more.", class_="dim")] if hidden > 0 else []
    shown = failures(findings.failures, summary.run, findings.place)
    return sections.section("Cases that did not pass", *shown, *more)
