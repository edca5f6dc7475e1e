"""Stored runs of `misstep plan shrink`: one case, made smaller."""

from collections.abc import Sequence

from misstep.core.outcome import Judgement
from misstep.core.results.diagnosis import Reduction
from misstep.core.results.report import ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.shrink.run import view_reduction
from misstep.rendering.html import sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage, planning_parts
from misstep.runs.reporting.case_bundles import bundle_of_some
from misstep.runs.reporting.items import ReportSource, entry_of, spot_of_agent
from misstep.runs.reporting.stored import PlanningRuns
from misstep.store.runs import Run


class ShrinkRuns(PlanningRuns):
    def result(self, settings: StoreSettings, run: Run) -> Reduction | None:
        return view_reduction(settings, run.id)

    def items(self, settings: StoreSettings, home: ReportSource) -> Sequence[ReportItem]:
        found = view_reduction(settings, home.run.id)
        if found is None:
            return []
        if found.outcome:
            return [entry_of(found.outcome, home, spot_of_agent(home))]
        verdict: Judgement = "passed" if found.tried else "inconclusive"
        return [ReportItem(found.case.id, found.case.id, found.case.topic, verdict, reason=found.complaint)]

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_reduction(settings, run.id)
        if found is None:
            return RunPage(summary, tuple(planning_parts(summary)))
        smallest = bundle_of_some(settings, run.id, [found.outcome]) if found.outcome else None
        # The pass rate on changed cases says nothing about the agent.
        shown = [smallest.single("Smallest request that still fails")] if smallest else []
        return RunPage(summary, (sections.counts(summary), *shown), smallest)


FEATURE = ShrinkRuns()
