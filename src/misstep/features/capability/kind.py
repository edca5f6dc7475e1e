"""Stored runs of `misstep plan capability`: test runs with a curve."""

from collections.abc import Iterator

from misstep.core.results.capability import Capability
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.features.capability.page import capability_section, errors_section
from misstep.features.capability.run import capability_of, levels_beside, view_capability, with_others
from misstep.rendering.html.markup import Markup
from misstep.runs.reporting.stored import PlanningRuns
from misstep.store.runs import Run, Store


class CapabilityRuns(PlanningRuns):
    has_curve = True

    def result(self, settings: Settings, run: Run) -> Capability:
        return view_capability(settings, run.id)

    def findings(self, settings: Settings, run: Run, summary: Summary) -> Iterator[Markup]:
        curves = with_others(settings, view_capability(settings, run.id))
        yield capability_section(curves, levels_beside(settings))
        if summary.failed:
            yield errors_section(curves)

    def most_actions(self, store: Store, run: Run) -> int:
        return capability_of(store, run).limit or 0


FEATURE = CapabilityRuns()
