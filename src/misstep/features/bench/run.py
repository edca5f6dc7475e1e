"""Runs an agent on a benchmark and stores the results, and replays single tasks."""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import chain

import msgspec

from misstep.core.event import Event, Listener, TaskJudged
from misstep.core.results.benchmark import Benchmark, BenchmarkReport, TaskReport
from misstep.core.results.descriptions import read_text
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, BenchSettings, StoreSettings, ToolRunSettings
from misstep.core.settings.reading import check_settings
from misstep.core.spending import Budget, Spent
from misstep.errors import UsageError, did_you_mean
from misstep.features.bench.attempts import Attempts
from misstep.features.bench.environments import BenchmarkSuite, EnvPool, check_task_agent
from misstep.features.bench.suites import find_suite, kinds_of
from misstep.runs.budget import RunBudget, cost_of_run
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.execution import masked
from misstep.runs.lookup import resolve_prefix
from misstep.runs.setup.models import Tell, refuse_blind_budget, refuse_secrets
from misstep.runs.setup.workers import stopping
from misstep.runs.summary import summarise_tasks
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import run_to_resume, with_agent
from misstep.store.runs import Run, Store


def run_benchmark(
    benchmark: Benchmark, settings: BenchSettings, tools: Sequence[str], *listeners: Listener
) -> BenchmarkReport:
    """Run the agent with these tools on the tasks that the settings select, and store the reports."""
    settings = absolute_places(check_settings(settings))
    suite = find_suite(benchmark, settings)
    specs = _specs(tools, suite)
    _refuse_early(settings)
    with EnvPool(suite, specs, settings) as pool:
        pool.check_tools()
        with Store(settings.store, create=True) as store:
            purpose = RunSpec(benchmark, tools=specs, descriptions=read_text(settings.descriptions))
            run = store.add_run(settings, len(suite.tasks), time.time(), purpose=purpose)
            return _hold(store, run, pool, listeners)


def resume_benchmark(
    benchmark: Benchmark, settings: AgentRunSettings, *listeners: Listener
) -> BenchmarkReport:
    """Resume a stopped run under the settings it was started with, except for budgets."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = run_to_resume(store, settings, benchmark)
        if run.summary:
            return _view(store, run)
        suite = find_suite(benchmark, run.settings)
        _refuse_early(run.settings)
        with EnvPool(suite, run.purpose.tools, run.settings) as pool:
            pool.check_tools()
            return _hold(store, run, pool, listeners)


def view_benchmark(settings: StoreSettings, name: str) -> BenchmarkReport:
    with Store(settings.store) as store:
        return _view(store, store.find_run(name))


def find_task(settings: StoreSettings, name: str, wanted: str) -> tuple[Run, TaskReport]:
    """The task of a run with this id, or the only one whose id starts with it."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        known = {task.name: task for task in _view(store, run).tasks}
        return run, resolve_prefix(wanted, known, "task", run, store)


def benchmark_of(run: Run) -> Benchmark:
    if run.purpose.kind.group != "bench":
        raise UsageError(f"run {run.id} is not from a benchmark, but from {run.purpose.command}")
    benchmark: Benchmark = msgspec.convert(run.purpose.verb, Benchmark)
    return benchmark


def _specs(tools: Sequence[str], suite: BenchmarkSuite) -> tuple[str, ...]:
    """The specs of the tools; some may be given by short names of the benchmark."""
    known = suite.tools
    usual = next(iter(known))
    specs = [known.get(word, word) for word in tools or (usual,)]
    for spec in specs:
        if ":" not in spec and not spec.endswith(".json"):
            listed = f"known: {', '.join(known)}, or file.py:name, package.module:name, mcp:COMMAND, mcp.json"
            raise UsageError(f"unknown tools '{spec}'", listed, did_you_mean(spec, known), where="--tools")
    return stored_specs(specs)


def _refuse_early(settings: ToolRunSettings) -> None:
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    check_task_agent(settings)


def _view(store: Store, run: Run) -> BenchmarkReport:
    tasks = sorted(store.tool_documents(run.id, TaskReport), key=lambda report: report.place)
    spent = store.spent(run.id)
    benchmark = benchmark_of(run)
    return BenchmarkReport(
        run.id,
        benchmark,
        run.purpose.tools,
        tuple(tasks),
        dict(spent.usage),
        spent.seconds,
        cost_of_run(run, spent.usage),
        kinds_of(benchmark),
        run.total,
    )


def _hold(store: Store, run: Run, pool: EnvPool, listeners: Sequence[Listener]) -> BenchmarkReport:
    session = ToolRunSession(store, run, listeners, TaskReport, summarise_tasks)
    session.hold(lambda: _work(session, pool), lambda report: TaskJudged(run.id, report), unit="task")
    return _view(store, run)


def _work(session: ToolRunSession[TaskReport], pool: EnvPool) -> Generator[TaskReport | Event]:
    settings, run_budget, tasks = session.run.settings, session.run_budget, pool.suite.tasks
    done = {*session.kept}
    left = ((place, task) for place, task in enumerate(tasks) if task.id not in done)
    attempts = Attempts(pool, settings, run_budget, left, session.notice, session.start)
    session.lost = attempts.lost
    with stopping(run_budget), closing(attempts.run(min(settings.jobs, len(tasks) - len(done)))) as reports:
        yield from reports


def replay_task(
    settings: AgentRunSettings, run: str, name: str, tell: Tell = lambda _: None
) -> tuple[TaskReport, TaskReport]:
    """The stored report on a task, and a new one from running it again."""
    stored, before = find_task(settings, run, name)
    own = with_agent(settings, stored).settings
    suite = find_suite(benchmark_of(stored), own)
    tasks = chain(suite.tasks[before.place : before.place + 1], suite.tasks)  # the likely one first
    task = next((task for task in tasks if task.id == before.name), None)
    if task is None:
        hint = f"run {stored.id} was made with another version"
        raise UsageError(f"there is no task '{before.name}' now", hint)
    run_budget, made = RunBudget(Budget(), Spent()), list[TaskReport]()
    with EnvPool(suite, stored.purpose.tools, own) as pool:
        attempts = Attempts(pool, own, run_budget, [(before.place, task)], tell)
        attempts.work(made.append)
    for where, why in attempts.lost.items():
        raise UsageError(why, where=where)
    return before, masked(made[0])
