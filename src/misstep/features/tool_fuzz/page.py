"""The section of the HTML page with the defects of tools."""

from collections.abc import Iterator, Sequence

from misstep.core.results.finding import Cause, Finding, FuzzReport, ToolReport
from misstep.features.tool_fuzz.reach_view import (
    EFFORT,
    STAGES,
    effort_cells,
    methods_in_words,
    not_reached,
    stage_cells,
    survival_in_words,
)
from misstep.features.tool_fuzz.view import (
    COLUMNS,
    UNCONFIRMED,
    headline,
    history,
    other_places,
    refusals_in_words,
    remarks,
    validation_in_words,
)
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.sections import page_section
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call

HEADINGS = ("tool", "calls", "found", "refused", "calls each", "estimated total", "environment", "lines run")
PUT = ("tried with the agent", *STAGES, "unclear")
CALLS = 20_000  # characters
MOST_PASSAGES = 200


def defects(report: FuzzReport, place: str) -> Iterator[Markup]:
    """Each finding, the most severe first, then a row for each tool; `place` names the store in a command."""
    style = "rate bad" if report.findings else "rate"
    shown = [_finding(cause.findings[0], report.run, place, cause) for cause in report.causes]
    yield element("section", element("p", headline(report), class_=style), *shown)
    if report.unconfirmed:
        waiting = [_finding(finding, report.run, place) for finding in report.unconfirmed]
        yield page_section("Not confirmed", element("p", UNCONFIRMED), *waiting)
    if any(tool.journey for tool in report.tools):
        yield _through_agent(report.tools)
    told = element("p", text(validation_in_words(report), 2_000), class_="bad" if report.untested else "")
    table = grid(HEADINGS, [_row(tool) for tool in report.tools])
    notes = [f"{tool.name}: {'; '.join(said)}" for tool in report.tools if (said := remarks(tool))]
    captions = [element("p", text(note), class_="caption") for note in notes]
    yield page_section("Tools", told, table, *captions, *_refusals(report.tools))


def _through_agent(tools: Sequence[ToolReport]) -> Markup:
    """How many defects got past each stage, the cost, and what stopped the others."""
    own = [(tool.name, tool.journey) for tool in tools if tool.journey is not None]
    parts = list[Markup]()
    if told := survival_in_words(tools):
        stages = [Row((text(name, 100), *stage_cells(journey))) for name, journey in own]
        parts += [grid(("tool", *PUT), stages), element("p", text(told), class_="caption")]
    parts.append(grid(("tool", *EFFORT), [Row((text(name, 100), *effort_cells(one))) for name, one in own]))
    if missed := not_reached(tools):
        lists = [element("li", text(told)) for told in missed[:MOST_PASSAGES]]
        parts.append(element("details", element("summary", "Not reached"), element("ul", *lists)))
    return page_section(f"Through the agent ({methods_in_words(tools)})", *parts)


def _row(tool: ToolReport) -> Row:
    return Row((text(tool.name, 100), *[str(cell(tool)) for _, cell in COLUMNS]))


def _refusals(tools: Sequence[ToolReport]) -> Iterator[Markup]:
    told = [(tool.name, *refused) for tool in tools for refused in refusals_in_words(tool)]
    if told:
        rows = [Row((text(name, 100), text(words, 500), text(call, 500))) for name, words, call in told]
        yield element(
            "details",
            element("summary", "Most frequent refusals"),
            grid(("tool", "share and message", "for example"), rows),
        )


def _finding(finding: Finding, run: str, place: str, cause: Cause | None = None) -> Markup:
    kind = element("b", finding.kind, class_="bad")
    where = element("span", f" · {plain(finding.where, 200)}", class_="dim") if finding.where else ""
    head = element("summary", kind, " ", text(finding.error, 100), " · ", text(finding.tool, 100), where)
    calls = "\n".join(map(written_call, finding.calls))
    asked = [element("p", element("b", "asked for with: "), text(finding.request))] if finding.request else []
    said = [element("p", text(each)) for each in (finding.message, finding.why, history(finding)) if each]
    said += [element("p", text(each)) for each in (other_places(cause) if cause else ())]
    again = f"misstep replay {run}/{finding.id}{plain(place)}"
    shown = element("pre", lines(calls, CALLS))
    command = element("pre", lines(again), class_="command")
    return element("details", head, *asked, shown, *said, command, open="open", id=finding.id)
