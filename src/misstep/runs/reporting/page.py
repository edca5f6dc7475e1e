"""All that is known about a stored run, for a page."""

from misstep.core.run import BENCHMARKS
from misstep.core.settings import Settings
from misstep.features.bench.run import view_benchmark
from misstep.features.capability.run import levels_beside, view_capability, with_others
from misstep.features.consistency.run import view_consistency
from misstep.features.crosstalk.run import view_crosstalk
from misstep.features.dissect.run import view_dissection
from misstep.features.fix.run import view_fixing
from misstep.features.shrink.run import view_reduction
from misstep.features.tool_fuzz.run import view_fuzzing
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import Findings
from misstep.rendering.terminal import RunRow
from misstep.runs.compare import break_down
from misstep.runs.lookup import RunView, view_run
from misstep.runs.reporting.case_bundles import book_of, book_of_diagnoses, book_of_one
from misstep.store.location import way_to

ENOUGH = 2  # topics, for a table of them to say something


def gather(settings: Settings, name: str, cases: CaseBundle | None = None) -> Findings:
    """A run with its cases; where they are all listed, `cases` may be those that a server sends."""
    view = view_run(settings, name, 0)
    run, verb = view.run.id, view.run.purpose.verb
    place, row = way_to(settings.store), _row(view)
    if verb == "fuzz":
        return Findings(view.summary, run=row, tools=view_fuzzing(settings, run), place=place)
    if verb == "consistency":
        return Findings(view.summary, run=row, answers=view_consistency(settings, run), place=place)
    if verb == "crosstalk":
        return Findings(view.summary, run=row, groups=view_crosstalk(settings, run), place=place)
    if verb == "fix":
        return Findings(view.summary, run=row, fixes=view_fixing(settings, run), place=place)
    if verb in BENCHMARKS:
        return Findings(view.summary, run=row, tasks=view_benchmark(settings, run), place=place)
    if verb == "dissect":
        dissection = view_dissection(settings, run)
        shown = book_of_diagnoses(settings, dissection)
        return Findings(view.summary, shown, dissections=(dissection,), place=place, run=row)
    if verb == "shrink":
        reduction = view_reduction(settings, run)
        found = reduction.outcome if reduction else None
        smallest = book_of_one(settings, run, found) if found else None
        return Findings(view.summary, smallest, reduction=reduction, place=place, run=row)
    topics = break_down(settings, run, "topic")
    return Findings(
        summary=view.summary,
        cases=cases or book_of(settings, view.run),
        capabilities=with_others(settings, view_capability(settings, run)) if verb == "capability" else (),
        levels=levels_beside(settings),
        breakdowns=(topics,) if len(topics.portions) >= ENOUGH else (),
        place=place,
        run=row,
    )


def _row(view: RunView) -> RunRow:
    run = view.run
    return RunRow(run.id, run.started, run.total, run.done, run.settings, view.live, run.summary, run.purpose)
