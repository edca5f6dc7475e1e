"""Stored runs of `misstep tool consistency`: a report for each tool, with its sets of requests."""

from typing import Any

from misstep.core.event import ToolChecked
from misstep.core.results.comparison import Held
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.report import Issue, ReportItem, SourceLocation
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.consistency.run import find_set, view_consistency
from misstep.features.consistency.view import consistency_as_json, faulty_sets, set_page
from misstep.interop.tables import SetRow, set_rows
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import PartPage, RunPage
from misstep.rendering.text import plain
from misstep.runs.compare import SIGNIFICANT, nothing_in_common, pairing_of
from misstep.runs.reporting.items import NAME, TEXT, ReportSource, tool_item
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_sets
from misstep.store.location import way_to
from misstep.store.runs import Run, Store


class ConsistencyRuns(ReportedRuns[ConsistencyReport]):
    parts = "sets"

    def item(self, report: ConsistencyReport, home: ReportSource) -> ReportItem:
        spot = home.spot_of_name(list(home.run.purpose.tools), report.name)
        flaws = [_faulty(each, report.name, spot, home) for each in report.faulty]
        reason = "; ".join(report.notes) or "no set of requests could be judged"
        return tool_item(report.name, report.verdict, report.seconds, flaws, reason)

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        return consistency_as_json(view_consistency(settings, run.id))

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_consistency(settings, run.id)
        parts = tuple(faulty_sets(found, way_to(settings.store)))
        return RunPage(summary, parts, sandboxes=tuple(tool.sandbox for tool in found.tools))

    def part_page(self, settings: ViewSettings, run: Run, name: str) -> PartPage:
        _, tool, one = find_set(settings, run.id, name)
        return set_page(view_consistency(settings, run.id), tool.name, one, way_to(settings.store))

    def hold(self, settings: StoreSettings, baseline: str, run: str) -> Held:
        """Compare the sets that have the same requests for the same tool, which their ids are made of."""
        with Store(settings.store) as store:
            both = [store.tool_documents(each, ConsistencyReport) for each in (baseline, run)]
        before, after = [
            {
                each.id: each.verdict == "passed"
                for tool in tools
                for each in tool.sets
                if each.verdict in ("passed", "failed")
            }
            for tools in both
        ]
        common = sorted(before.keys() & after.keys())
        if not common:
            raise nothing_in_common(baseline, run, "set", "run both with the same seed and --cache")
        pairing = pairing_of([(before[name], after[name]) for name in common])
        significant = pairing.p < SIGNIFICANT
        return Held(
            baseline,
            regressed=significant and pairing.difference < 0,
            significant=significant,
            unit="set",
            pairing=pairing,
            lost=tuple(name for name in common if before[name] and not after[name]),
            won=tuple(name for name in common if after[name] and not before[name]),
        )


def _faulty(one: PromptSet, tool: str, spot: SourceLocation | None, home: ReportSource) -> Issue:
    sides = (("wrong", one.evidence.wrong), ("right", one.evidence.right)) if one.evidence else ()
    told = {
        f"{which} paraphrase": plain(f"{side.request} → {side.inputs} → {side.answer}", TEXT)
        for which, side in sides
        if side is not None
    }
    return Issue(
        id=one.id,
        rule="tool/consistency",
        title=f"set {one.id}: paraphrases get different answers",
        text=plain(one.why, TEXT),
        identity=one.id,
        subject=plain(tool, NAME),
        details=told,
        replay=home.replay(one.id),
        spot=spot,
    )


FEATURE = ConsistencyRuns(ConsistencyReport, ToolChecked, summarise_sets, SetRow, set_rows)
