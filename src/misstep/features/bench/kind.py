"""Stored runs of `misstep bench`: a report for each task."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from misstep.core.event import TaskJudged
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import Held, TaskComparison
from misstep.core.results.report import Format, Issue, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.features.bench.compare import compare_tasks
from misstep.features.bench.run import view_benchmark
from misstep.features.bench.view import benchmark_as_json, tasks
from misstep.interop.episodes import Episode, episode_of_task
from misstep.interop.tables import RowSubject, TableRow, TaskRow, task_row
from misstep.rendering.html import sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.runs.compare import held_of
from misstep.runs.reporting.items import TEXT, ReportSource, spot_of_agent
from misstep.runs.reporting.stored import ReportedRuns
from misstep.runs.summary import summarise_tasks
from misstep.store.location import way_to
from misstep.store.runs import Run, Store


class BenchRuns(ReportedRuns[TaskReport]):
    report, row = TaskReport, TaskRow
    rules = ("bench",)

    def event(self, run: str, report: TaskReport) -> TaskJudged:
        return TaskJudged(run, report)

    def item(self, report: TaskReport, home: ReportSource) -> ReportItem:
        return task_entry(report, home)

    def rows(self, subject: RowSubject, report: TaskReport) -> Iterable[TableRow]:
        return [task_row(subject, report)]

    def summarise(self, run: Run, reports: Sequence[TaskReport]) -> Summary:
        return summarise_tasks(run, reports)

    def as_json(self, settings: Settings, run: Run, summary: Summary) -> dict[str, Any]:
        return benchmark_as_json(view_benchmark(settings, run.id))

    def page(self, settings: Settings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        found = view_benchmark(settings, run.id)
        parts = (sections.success(summary, "task"), *tasks(found, way_to(settings.store)))
        return RunPage(summary, parts, sandboxes=tuple(task.sandbox for task in found.tasks))

    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        return map(episode_of_task, self.reports(store, run))

    def compare(self, settings: Settings, first: str, second: str) -> TaskComparison:
        return compare_tasks(settings, first, second)

    def hold(self, settings: Settings, baseline: str, run: str) -> Held:
        return held_of(self.compare(settings, baseline, run), "task")


MOST_CALLS = 20


def task_entry(task: TaskReport, home: ReportSource) -> ReportItem:
    failed = task.verdict == "failed"
    why = "\n".join(plain(line, TEXT) for line in task.why)
    return ReportItem(
        id=task.name,
        name=f"{plain(task.name, 100)} ({plain(task.kind, 100)})",
        group=plain(task.domain or task.kind, 100),
        verdict=task.verdict,
        seconds=task.seconds,
        reason="" if failed or task.verdict == "passed" else (why or plain("; ".join(task.notes), TEXT)),
        flaws=(_issue_of_task(task, home, why),) if failed else (),
    )


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


FEATURE = BenchRuns()
