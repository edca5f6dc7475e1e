"""Defects of tools in HTML: the section of a run's page, and the page of one finding."""

import os
from collections.abc import Iterator, Sequence

from misstep.core.results.finding import Cause, Finding
from misstep.core.results.fuzzing import FuzzReport, ToolReport
from misstep.core.tool import Frame
from misstep.features.tool_fuzz import reach_view as reach
from misstep.features.tool_fuzz import view
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.page import PartPage
from misstep.rendering.html.sections import page_section
from misstep.rendering.text import plain
from misstep.rendering.trial import trial_in_words, written_call

HEADINGS = ("tool", "calls", "found", "refused", "calls each", "estimated total", "environment", "lines run")
PUT = ("tried with the agent", *reach.STAGES, "unclear")
CALLS = 20_000  # characters
MOST_PASSAGES = 200
MOST_LINES = 3  # of source code


def defects(report: FuzzReport, place: str) -> Iterator[Markup]:
    """Each finding, the most severe first, then a row for each tool; `place` names the store in a command."""
    style = "rate bad" if report.findings else "rate"
    shown, minor = list[Markup](), list[Markup]()
    for cause in report.causes:
        first = cause.findings[0]
        (minor if first.is_minor else shown).append(_finding(first, report.run, place, cause))
    yield element("section", element("p", view.headline(report), class_=style), *shown)
    if minor:
        words = f"{len(minor)} {view.MINOR}"
        yield element("section", element("details", element("summary", words), *minor))
    if report.unconfirmed:
        waiting = [_finding(finding, report.run, place) for finding in report.unconfirmed]
        yield page_section("Not confirmed", element("p", view.UNCONFIRMED), *waiting)
    if any(tool.journey for tool in report.tools):
        yield _through_agent(report.tools)
    style = "bad" if report.untested else ""
    told = element("p", text(view.validation_in_words(report), 2_000), class_=style)
    rows = [
        Row((text(tool.name, 100), *[str(cell(tool)) for _, cell in view.COLUMNS])) for tool in report.tools
    ]
    notes = [f"{tool.name}: {'; '.join(said)}" for tool in report.tools if (said := view.remarks(tool))]
    captions = [element("p", text(note), class_="caption") for note in notes]
    yield page_section("Tools", told, grid(HEADINGS, rows), *captions, *_refusals(report.tools))


def _through_agent(tools: Sequence[ToolReport]) -> Markup:
    """How many defects got past each stage, the cost, and what stopped the others."""
    own = [(tool.name, tool.journey) for tool in tools if tool.journey is not None]
    parts = list[Markup]()
    if told := reach.survival_in_words(tools):
        stages = [Row((text(name, 100), *reach.stage_cells(journey))) for name, journey in own]
        parts += [grid(("tool", *PUT), stages), element("p", text(told), class_="caption")]
    efforts = [Row((text(name, 100), *reach.effort_cells(journey))) for name, journey in own]
    parts.append(grid(("tool", *reach.EFFORT), efforts))
    if missed := reach.not_reached(tools):
        lists = [element("li", text(told)) for told in missed[:MOST_PASSAGES]]
        parts.append(element("details", element("summary", "Not reached"), element("ul", *lists)))
    return page_section(f"Through the agent ({reach.methods_in_words(tools)})", *parts)


def _refusals(tools: Sequence[ToolReport]) -> Iterator[Markup]:
    told = [(tool, *refused) for tool in tools for refused in view.refusals_in_words(tool)]
    if told:
        rows = [
            Row((text(view.accepted_in_words(tool), 200), text(words, 500), text(call, 500)))
            for tool, words, call in told
        ]
        table = grid(("tool", "share and message", "for example"), rows)
        yield element("details", element("summary", "Most frequent refusals"), table)


def _finding(finding: Finding, run: str, place: str, cause: Cause | None = None) -> Markup:
    kind = element("b", finding.kind, class_="bad")
    where = element("span", f" · {plain(finding.where, 200)}", class_="dim") if finding.where else ""
    head = element("summary", kind, " ", text(finding.error, 100), " · ", text(finding.tool, 100), where)
    body = _body(finding, run, place, cause)
    return element("details", head, *body, open="open", id=finding.id, data_part=f"findings/{finding.id}")


def _body(finding: Finding, run: str, place: str, cause: Cause | None = None) -> Iterator[Markup]:
    """The request, the smallest calls, what happened, the source lines, and the command that replays it."""
    if finding.request:
        yield element("p", element("b", "asked for with: "), text(finding.request))
    yield element("pre", lines("\n".join(map(written_call, finding.calls)), CALLS))
    if finding.message:
        yield element("p", text(finding.message))
    own = [frame for frame in finding.frames if frame.own and frame.text]
    if own:
        yield _source(own[-MOST_LINES:])
    for each in (finding.why, view.history(finding), *(view.other_places(cause) if cause else ())):
        yield element("p", text(each), class_="dim")
    again = f"misstep replay {run}/{finding.id}{plain(place)}"
    yield element("pre", lines(again), class_="command")


def _source(frames: Sequence[Frame]) -> Markup:
    rows = list[Markup]()
    for frame in frames:
        place = element("td", text(f"{os.path.basename(frame.file)}:{frame.line}", 200), class_="dim")
        rows.append(element("tr", place, element("td", element("code", text(frame.text, 200)))))
    return element("table", *rows, class_="source", aria_label="source lines")


def finding_page(report: FuzzReport, finding: Finding, place: str) -> PartPage:
    order = [each.id for each in (*report.findings, *report.unconfirmed)]
    cause = next((each for each in report.causes if finding in each.findings), None)
    parts = list(_body(finding, report.run, place, cause))
    if finding.original != finding.calls:
        first = lines("\n".join(map(written_call, finding.original)), CALLS)
        parts.append(page_section("First seen with", element("pre", first)))
    if finding.frames:
        way = "\n".join(_in_traceback(frame) for frame in finding.frames)
        parts.append(page_section("Traceback", element("pre", lines(way))))
    if passage := report.passage_of(finding):
        did = trial_in_words(passage.rehearsal) if passage.rehearsal else ()
        told = [reach.fate_in_words(passage), *did]
        parts.append(page_section("Through the agent", *[element("p", text(line)) for line in told]))
    title = f"{finding.kind} {plain(finding.error, 100)} in {plain(finding.tool, 100)}"
    return PartPage.among(order, finding.id, title, parts)


def _in_traceback(frame: Frame) -> str:
    place = f"{frame.file}:{frame.line} in {frame.function}"
    return f"{place}\n    {frame.text}" if frame.text else place
