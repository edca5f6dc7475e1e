"""Stored runs of `misstep tool fuzz`: a report for each tool."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from misstep.core.event import ToolFinished
from misstep.core.results.comparison import Held, NewFinding
from misstep.core.results.finding import Cause, Finding, causes_of, ranked
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.report import Issue, ReportItem, Unconfirmed
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.tool_fuzz.page import defects, finding_page
from misstep.features.tool_fuzz.run import find_finding, view_fuzzing
from misstep.features.tool_fuzz.view import MINOR, as_json, history, not_tested
from misstep.interop.tables import FindingRow, finding_rows
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import PartPage, RunPage
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.runs.compare import nothing_in_common
from misstep.runs.reporting.items import NAME, TEXT, ReportSource, tool_item
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_tools, verdict_on
from misstep.store.location import way_to
from misstep.store.runs import Run, Store


class FuzzRuns(ReportedRuns[ToolReport]):
    parts = "findings"

    def item(self, report: ToolReport, home: ReportSource) -> ReportItem:
        return self.items_of([report], home)[0]

    def items_of(self, reports: list[ToolReport], home: ReportSource) -> Sequence[ReportItem]:
        found = causes_of(each for one in reports for each in one.findings)
        causes = {finding.id: cause for cause in found for finding in cause.findings}
        return [_fuzzed(each, home, causes) for each in _weightiest_first(reports)]

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        return as_json(view_fuzzing(settings, run.id))

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_fuzzing(settings, run.id)
        parts = tuple(defects(found, way_to(settings.store)))
        return RunPage(summary, parts, sandboxes=tuple(tool.sandbox for tool in found.tools))

    def part_page(self, settings: ViewSettings, run: Run, name: str) -> PartPage:
        _, finding = find_finding(settings, run.id, name)
        return finding_page(view_fuzzing(settings, run.id), finding, way_to(settings.store))

    def hold(self, settings: StoreSettings, baseline: str, run: str) -> Held:
        """Compare findings exactly. A tool that only this run has tested counts too."""
        with Store(settings.store) as store:
            before, after = store.tool_reports(baseline), store.tool_reports(run)
        tested = {report.name for report in after}
        if not tested & {report.name for report in before}:
            raise nothing_in_common(baseline, run, "tool", "fuzz the same tools in both runs")
        old = [finding for report in before if report.name in tested for finding in report.findings]
        own = [finding for report in after for finding in report.findings]
        new, gone = _beyond(own, old), _beyond(old, own)
        return Held(baseline, regressed=bool(new), unit="tool", new=_named(new), gone=_named(gone))


def _weightiest_first(reports: list[ToolReport]) -> list[ToolReport]:
    """Tools by their most severe finding, then those without any, so that a cut list keeps what matters."""
    broken = [report for report in reports if report.findings]
    broken.sort(key=lambda report: min(finding.weight for finding in report.findings))
    return [*broken, *(report for report in reports if not report.findings)]


def _fuzzed(report: ToolReport, home: ReportSource, causes: Mapping[str, Cause]) -> ReportItem:
    """A tool with its defects, most severe first; `causes` are those of the run by its findings."""
    seen = Counter[str]()
    flaws = list[Issue]()
    for finding in ranked(report.findings):
        flaws.append(_defect(finding, seen[finding.identity], home, causes[finding.id]))
        seen[finding.identity] += 1
    untested = [] if report.is_tested else [not_tested(report)]
    reason = "; ".join((*untested, *report.notes)) or "the agent's runs could not be judged"
    item = tool_item(report.name, verdict_on(report), report.seconds, flaws, reason)
    waiting = ranked(report.unconfirmed)
    return structs.replace(item, unconfirmed=tuple(_unconfirmed(each, home) for each in waiting))


def _unconfirmed(finding: Finding, home: ReportSource) -> Unconfirmed:
    return Unconfirmed(f"{_title(finding)} in {plain(finding.tool, NAME)}", home.replay(finding.id))


def _title(finding: Finding) -> str:
    return f"{finding.kind} {plain(finding.error, NAME)} {plain(finding.where, NAME)}".strip()


def _defect(finding: Finding, number: int, home: ReportSource, cause: Cause) -> Issue:
    first = cause.findings[0]
    told = {
        "asked for with": plain(finding.request, TEXT),
        "seen": history(finding),
        "cause": f"{cause.id}, at {counted(len(cause.findings), 'place')}",
        "listed": MINOR if finding.is_minor else "",
    }
    return Issue(
        id=finding.id,
        rule=f"tool/{finding.kind}",
        title=_title(finding),
        text="\n".join(filter(None, (plain(finding.message, TEXT), plain(finding.why, TEXT)))),
        identity=f"{finding.identity}\0{number}",
        subject=plain(finding.tool, NAME),
        calls=tuple(written_call(call) for call in finding.calls),
        details={name: text for name, text in told.items() if text},
        replay=home.replay(finding.id),
        spot=home.spot_of_finding(finding),
        aside="same cause" if finding is not first else "minor" if first.is_minor else "",
    )


def _beyond(findings: Sequence[Finding], known: Sequence[Finding]) -> list[Finding]:
    """Findings that are not known: not the same, and not one whose line has moved."""
    same = {finding.id for finding in findings} & {finding.id for finding in known}
    moved = Counter(finding.identity for finding in known if finding.id not in same)
    beyond = list[Finding]()
    for finding in findings:
        if finding.id in same:
            continue
        if moved[finding.identity]:
            moved[finding.identity] -= 1
        else:
            beyond.append(finding)
    return beyond


def _named(findings: Sequence[Finding]) -> tuple[NewFinding, ...]:
    return tuple(NewFinding(each.id, each.tool, each.kind, each.error) for each in findings)


FEATURE = FuzzRuns(ToolReport, ToolFinished, summarise_tools, FindingRow, finding_rows)
