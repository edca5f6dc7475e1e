"""All that is known about a stored run, for a page."""

from misstep.api.benchmarking.running import view_benchmark
from misstep.api.breakdown import break_down
from misstep.api.capability import view_capability
from misstep.api.consistency import view_consistency
from misstep.api.dissection import view_dissection
from misstep.api.fuzzing import view_fuzzing
from misstep.api.runs import RunView, view_run
from misstep.api.shrinking import view_reduction
from misstep.core.purpose import BENCHMARKS
from misstep.core.settings import Settings
from misstep.report.naming import told_apart
from misstep.report.page import Findings
from misstep.report.terminal import RunRow
from misstep.store.location import way_to

MOST_FAILURES = 50
ENOUGH = 2  # topics, for a table of them to say something


def gather(settings: Settings, name: str) -> Findings:
    view = view_run(settings, name, MOST_FAILURES)
    run, verb = view.run.id, view.run.purpose.verb
    place = way_to(settings.store)
    if verb == "fuzz":
        return Findings(view.summary, run=_row(view), tools=view_fuzzing(settings, run), place=place)
    if verb == "consistency":
        return Findings(view.summary, run=_row(view), answers=view_consistency(settings, run), place=place)
    if verb in BENCHMARKS:
        return Findings(view.summary, run=_row(view), tasks=view_benchmark(settings, run), place=place)
    curves = (run, *settings.beside) if verb == "capability" else ()
    of_its_own = bool(view.run.purpose.run)
    topics = () if of_its_own else (break_down(settings, run, "topic"),)
    reduction = view_reduction(settings, run) if verb == "shrink" else None
    return Findings(
        summary=view.summary,
        failures=() if of_its_own else view.failures,
        reduction=reduction,
        capabilities=tuple(told_apart([view_capability(settings, curve) for curve in curves])),
        dissections=(view_dissection(settings, run),) if verb == "dissect" else (),
        breakdowns=tuple(each for each in topics if len(each.portions) >= ENOUGH),
        place=place,
    )


def _row(view: RunView) -> RunRow:
    run = view.run
    return RunRow(run.id, run.started, run.total, run.done, run.settings, view.live, run.summary, run.purpose)
