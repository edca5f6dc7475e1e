"""Stored runs of `misstep bench`: a report for each task, and the comparison of two runs task by task."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from misstep.core.event import TaskJudged
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import Effort, Held, KindPairing, TaskComparison
from misstep.core.results.report import Format, Issue, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.core.stats import holm
from misstep.errors import UsageError
from misstep.features.bench.run import benchmark_of, find_task, view_benchmark
from misstep.features.bench.view import benchmark_as_json, task_page, tasks
from misstep.interop.episodes import Episode, episode_of_task
from misstep.interop.tables import TaskRow, task_row
from misstep.rendering.html import sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import PartPage, RunPage
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.runs.compare import SIGNIFICANT, find_two, held_of, pairing_of
from misstep.runs.reporting.items import TEXT, ReportSource, spot_of_agent
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_tasks
from misstep.store.location import way_to
from misstep.store.runs import Run, Store

# A task that both runs have judged.
Pair: TypeAlias = tuple[TaskReport, TaskReport]
MOST_CALLS = 20


class BenchRuns(ReportedRuns[TaskReport]):
    parts = "tasks"
    rules = ("bench",)

    def item(self, report: TaskReport, home: ReportSource) -> ReportItem:
        failed = report.verdict == "failed"
        why, notes = "\n".join(plain(line, TEXT) for line in report.why), "; ".join(report.notes)
        return ReportItem(
            id=report.name,
            name=f"{plain(report.name, 100)} ({plain(report.kind, 100)})",
            group=plain(report.domain or report.kind, 100),
            verdict=report.verdict,
            seconds=report.seconds,
            reason="" if report.verdict in ("passed", "failed") else why or plain(notes, TEXT),
            flaws=(_issue_of_task(report, home, why),) if failed else (),
        )

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        return benchmark_as_json(view_benchmark(settings, run.id))

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_benchmark(settings, run.id)
        parts = (sections.success(summary, "task"), *tasks(found, way_to(settings.store)))
        return RunPage(summary, parts, sandboxes=tuple(task.sandbox for task in found.tasks))

    def part_page(self, settings: ViewSettings, run: Run, name: str) -> PartPage:
        _, task = find_task(settings, run.id, name)
        return task_page(view_benchmark(settings, run.id), task, way_to(settings.store))

    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        return map(episode_of_task, self.reports(store, run))

    def compare(self, settings: StoreSettings, first: str, second: str) -> TaskComparison:
        """On the tasks that passed or failed in both."""
        with Store(settings.store) as store:
            runs = find_two(store, first, second)
            for run in runs:
                benchmark_of(run)
            ours, known = (_judged(store, run) for run in runs)
        pairs = [(ours[key], known[key]) for key in ours if key in known]
        if not pairs:
            hint = "run both on the same benchmark and split; fresh tasks need the same seed"
            raise UsageError(f"runs {runs[0].id} and {runs[1].id} have no judged task in common", hint)
        pairing = pairing_of([_passed(pair) for pair in pairs])
        return TaskComparison(
            first=runs[0].id,
            second=runs[1].id,
            pairing=pairing,
            significant=pairing.p < SIGNIFICANT,
            kinds=_kinds(pairs),
            effort=(_effort([pair[0] for pair in pairs]), _effort([pair[1] for pair in pairs])),
            lost=tuple(pair[0].name for pair in pairs if _passed(pair) == (True, False)),
            won=tuple(pair[0].name for pair in pairs if _passed(pair) == (False, True)),
        )

    def hold(self, settings: StoreSettings, baseline: str, run: str) -> Held:
        return held_of(self.compare(settings, baseline, run), "task")


def _issue_of_task(task: TaskReport, home: ReportSource, why: str) -> Issue:
    uses = task.trial.uses if task.trial else ()
    return Issue(
        id=task.name,
        rule="bench/task",
        title=f"{plain(task.kind, 100)} was not done",
        text=why,
        identity=task.name,
        subject=plain(home.run.settings.agent, 200),
        calls=tuple(written_call(use.call) for use in uses[:MOST_CALLS]),
        details={"request": task.request[:TEXT]},
        replay=home.replay(task.name),
        spot=spot_of_agent(home),
    )


def _judged(store: Store, run: Run) -> dict[tuple[str, str], TaskReport]:
    """The tasks that passed or failed, by id and request, in the order of the run."""
    tasks = sorted(store.tool_documents(run.id, TaskReport), key=lambda task: task.place)
    return {(task.name, task.request): task for task in tasks if task.verdict in ("passed", "failed")}


def _passed(pair: Pair) -> tuple[bool, bool]:
    return pair[0].verdict == "passed", pair[1].verdict == "passed"


def _kinds(pairs: Sequence[Pair]) -> tuple[KindPairing, ...]:
    """One for each kind; none if there is only one kind."""
    kinds = list(dict.fromkeys(pair[0].kind for pair in pairs))
    if len(kinds) == 1:
        return ()
    pairings = [pairing_of([_passed(pair) for pair in pairs if pair[0].kind == kind]) for kind in kinds]
    corrected = holm([pairing.p for pairing in pairings])
    return tuple(map(KindPairing, kinds, pairings, corrected))


def _effort(tasks: Sequence[TaskReport]) -> Effort:
    tokens = sum(usage.input + usage.output for task in tasks for usage in task.usage.values())
    return Effort(
        calls=sum(task.calls for task in tasks) / len(tasks),
        tokens=tokens / len(tasks),
        seconds=sum(task.seconds for task in tasks) / len(tasks),
    )


FEATURE = BenchRuns(
    TaskReport, TaskJudged, summarise_tasks, TaskRow, lambda subject, report: [task_row(subject, report)]
)
