"""Defects of tools, in a page."""

from collections.abc import Iterator, Sequence

from misstep.core.finding import Finding, FuzzReport, ToolReport
from misstep.report.findings import calls_each, history, in_all, lines_run, remarks, written_call
from misstep.report.text import plain
from misstep.report.web.markup import Markup, element, lines, text
from misstep.report.web.sections import section
from misstep.report.web.tables import Row, grid

HEADINGS = ("tool", "calls", "found", "refused", "calls each", "estimated in all", "environment", "lines run")
CALLS = 20_000  # characters


def defects(report: FuzzReport, place: str) -> Iterator[Markup]:
    """A row for each tool, then each finding; `place` is what a command needs to find the store."""
    yield section("Tools", grid(HEADINGS, [_row(tool) for tool in report.tools]), *_remarks(report.tools))
    if report.findings:
        found = [_finding(finding, report.run, place) for finding in report.findings]
        yield section("Findings", *found)


def _row(tool: ToolReport) -> Row:
    counts = f"{tool.calls:,}", str(tool.unique_errors), f"{tool.refused:,}"
    rest = calls_each(tool), in_all(tool), f"{tool.environment:,}", lines_run(tool)
    return Row((text(tool.name, 100), *counts, *rest))


def _remarks(tools: Sequence[ToolReport]) -> Iterator[Markup]:
    for tool in tools:
        if told := remarks(tool):
            yield element("p", text(f"{tool.name}: {'; '.join(told)}"), class_="caption")


def _finding(finding: Finding, run: str, place: str) -> Markup:
    kind = element("b", finding.kind, class_="bad")
    where = element("span", f" · {plain(finding.where, 200)}", class_="dim") if finding.where else ""
    head = element("summary", kind, " ", text(finding.error, 100), " · ", text(finding.tool, 100), where)
    calls = "\n".join(map(written_call, finding.calls))
    said = [element("p", text(each)) for each in (finding.message, finding.why, history(finding)) if each]
    again = f"misstep replay {run}/{finding.id}{plain(place)}"
    return element("details", head, element("pre", lines(calls, CALLS)), *said, element("pre", lines(again)))
