"""Stored runs of `misstep tool crosstalk`: a report for each group of tools."""

from typing import Any

from misstep.core.event import GroupFinished
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.report import Issue, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.results.trial import Trial
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.crosstalk.run import view_crosstalk
from misstep.features.crosstalk.view import crosstalk_as_json, noise
from misstep.interop.tables import GroupRow, group_row
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.runs.reporting.items import NAME, TEXT, ReportSource, tool_item
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_sets
from misstep.store.runs import Run


class CrosstalkRuns(ReportedRuns[GroupReport]):
    def item(self, report: GroupReport, home: ReportSource) -> ReportItem:
        flaws = [_activation(trial, report, home) for trial in report.activating]
        reason = report.why or "; ".join(report.notes) or "no request could be judged"
        return tool_item(report.name, report.verdict, report.seconds, flaws, reason)

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        return crosstalk_as_json(view_crosstalk(settings, run.id))

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_crosstalk(settings, run.id)
        return RunPage(summary, tuple(noise(found)), sandboxes=tuple(each.sandbox for each in found.groups))


def _activation(trial: Trial, report: GroupReport, home: ReportSource) -> Issue:
    tools = list(dict.fromkeys(plain(use.tool, NAME) for use in trial.uses))
    return Issue(
        id=report.name,
        rule="tool/crosstalk",
        title=f"{', '.join(tools)} called for {plain(report.name, NAME)} requests",
        text=plain(trial.request, TEXT),
        identity="\0".join((report.name, trial.request, *tools)),
        subject=tools[0],
        calls=tuple(written_call(use.call) for use in trial.uses[:5]),
        replay=home.show,
        spot=home.spot_of_name(list(home.run.purpose.tools), trial.uses[0].tool),
    )


FEATURE = CrosstalkRuns(
    GroupReport,
    lambda run, report: GroupFinished(run, report.name, report.verdict),
    summarise_sets,
    GroupRow,
    lambda subject, report: [group_row(subject, report)],
)
