"""Stored runs of `misstep tool fix`: a report for each tool, with the descriptions that were tried."""

from typing import Any

from misstep.core.event import ToolMended
from misstep.core.results.fixing import FixReport
from misstep.core.results.report import Issue, ReportItem, SourceLocation
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.fix.apply import diffs_of, override_of
from misstep.features.fix.run import view_fixing
from misstep.features.fix.view import fix_as_json, wordings
from misstep.interop.tables import FixRow, fix_row
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.runs.reporting.items import NAME, ReportSource, tool_item
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_sets
from misstep.store.location import way_to
from misstep.store.runs import Run


class FixRuns(ReportedRuns[FixReport]):
    def item(self, report: FixReport, home: ReportSource) -> ReportItem:
        flaw = Issue(
            id=report.name,
            rule="tool/fix",
            title="no better description was found",
            text=f"{counted(len(report.usable), 'description')} tried instead of the tool's own",
            identity=report.name,
            subject=plain(report.tool, NAME),
            replay=home.show,
            spot=SourceLocation(report.file, max(1, report.line)) if report.file else None,
        )
        flaws = [flaw] if report.verdict == "failed" else []
        reason = "; ".join(report.notes) or "nothing could be judged with the tool's own description"
        return tool_item(report.name, report.verdict, report.seconds, flaws, reason)

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        found = view_fixing(settings, run.id)
        return fix_as_json(found, diffs_of(found), override_of(found))

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_fixing(settings, run.id)
        parts = tuple(wordings(found, way_to(settings.store)))
        return RunPage(summary, parts, sandboxes=tuple(tool.sandbox for tool in found.tools))


FEATURE = FixRuns(
    FixReport, ToolMended, summarise_sets, FixRow, lambda subject, report: [fix_row(subject, report)]
)
