"""Stored runs of `misstep plan dissect`: a cause for each failure of another run."""

from collections.abc import Sequence

from misstep.core.results.diagnosis import Diagnosis, Dissection
from misstep.core.results.report import Issue, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.dissect.run import view_dissection
from misstep.features.dissect.view import causes_section
from misstep.rendering.html import sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.text import plain
from misstep.runs.reporting.case_bundles import bundle_of_diagnoses
from misstep.runs.reporting.items import TEXT, ReportSource, replay, spot_of_agent
from misstep.runs.reporting.stored import PlanningRuns
from misstep.store.runs import Run


class DissectRuns(PlanningRuns):
    rules = ("cause",)

    def result(self, settings: StoreSettings, run: Run) -> Dissection:
        return view_dissection(settings, run.id)

    def items(self, settings: StoreSettings, home: ReportSource) -> Sequence[ReportItem]:
        found = view_dissection(settings, home.run.id)
        return [diagnosed(each, found.of, home) for each in found.failures]

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_dissection(settings, run.id)
        shown = bundle_of_diagnoses(settings, found)
        # The pass rate on changed cases says nothing about the agent.
        parts = (sections.counts(summary), causes_section((found,), linked=True), shown.aside())
        return RunPage(summary, parts, shown)


def diagnosed(diagnosis: Diagnosis, of: str, home: ReportSource) -> ReportItem:
    sure = f", {diagnosis.sure} sure" if diagnosis.sure else ""
    guilty = f": {plain(diagnosis.guilty, 200)}" if diagnosis.guilty else ""
    flaw = Issue(
        id=diagnosis.case,
        rule=f"cause/{diagnosis.cause}",
        title=f"{diagnosis.cause}{guilty}{sure}",
        text=plain(diagnosis.evidence, TEXT),
        identity="\0".join((diagnosis.case, diagnosis.cause)),
        subject=plain(home.run.settings.agent, 200),
        replay=replay(of, diagnosis.case, home.place),
        spot=spot_of_agent(home),
    )
    return ReportItem(diagnosis.case, plain(diagnosis.case, 100), diagnosis.cause, "failed", flaws=(flaw,))


FEATURE = DissectRuns()
