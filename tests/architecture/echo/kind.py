"""How its stored runs are read and reported: like tests of an agent, with a section of its own."""

from collections.abc import Iterator

from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.rendering.html.markup import Markup
from misstep.rendering.html.sections import page_section
from misstep.runs.reporting.stored import PlanningRuns
from misstep.store.runs import Run


class EchoRuns(PlanningRuns):
    def findings(self, settings: Settings, run: Run, summary: Summary) -> Iterator[Markup]:
        yield page_section("Echo", f"heard {summary.cases} times")


FEATURE = EchoRuns()
