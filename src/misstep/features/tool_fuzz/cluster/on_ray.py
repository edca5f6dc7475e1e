"""Fuzzes on a Ray cluster: all targets of a spec on one worker, with the results as here.

If a worker dies, another continues with the targets that were not finished. It knows their findings, but not
their calls, so contracts between tools may be tried on fewer.
"""

import asyncio
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import msgspec

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.secrets import secrets_in
from misstep.core.settings import ToolRunSettings
from misstep.core.spending import Budget, Spent
from misstep.engine.ray.link import connected, listen, require_ray
from misstep.errors import InternalError, MisstepError, UsageError
from misstep.features.tool_fuzz.time_shares import shared_time
from misstep.features.tool_fuzz.worker import FuzzWorker, Left, News, SeedCorpus, most_tools, weight_of
from misstep.runs.budget import RunBudget
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.setup.workers import stopping

MOST_LOSSES = 3  # workers that die while they fuzz the same spec
BEAT = 0.2  # seconds between two reports of a worker
NEEDS = "every node needs misstep, bubblewrap, and the tools' files and packages"


def refuse_on_ray(settings: ToolRunSettings) -> None:
    """Refuse what a cluster can't be combined with."""
    if settings.on != "ray":
        if settings.ray_address:
            raise UsageError("--ray-address requires --on ray", "add --on ray")
        return
    require_ray()
    if settings.agent:
        raise UsageError("--on ray can't be combined with --agent", "omit one of them")
    if settings.budget_calls is not None:
        hint = "limit the calls of each tool with --calls-per-tool"
        raise UsageError("--on ray can't be combined with --budget-calls", hint)


class SpecWork(msgspec.Struct, frozen=True):
    """What a worker needs to fuzz the targets of a spec."""

    settings: ToolRunSettings
    targets: tuple[Left, ...]
    known: tuple[Finding, ...]
    seeds: SeedCorpus
    seconds: float | None  # for all of them, if they share time


class FuzzProgress(msgspec.Struct, frozen=True):
    """What a worker has done since its last report."""

    started: tuple[str, ...]
    news: tuple[News, ...]
    calls: int  # negative if it gave back more reserved ones than it made


class FuzzActor:
    """A Ray actor that fuzzes the targets of one spec."""

    def __init__(self, packed: bytes, home: str) -> None:
        with suppress(OSError):  # file names are relative to the driver's folder, if it exists here
            os.chdir(home)
        self._packed = packed
        self._budget = RunBudget(Budget(), Spent())
        self._started, self._news = deque[str](), deque[News]()
        self._calls = 0

    def fuzz(self) -> dict[str, str]:
        """Fuzz until done or stopped; why the spec's tools were lost, if they were."""
        try:
            return self._fuzz()
        except InternalError:
            raise
        except MisstepError as error:  # this node lacks something
            raise UsageError(error.message, *error.hints, NEEDS, where=error.where) from None

    def _fuzz(self) -> dict[str, str]:
        work: SpecWork = pickle.loads(self._packed)
        with Workbenches(work.settings, beside=not work.settings.agent) as benches:
            worker = FuzzWorker(
                benches,
                work.settings,
                self._budget,
                work.known,
                work.seeds,
                starting=self._started.append,
                seconds=work.seconds,
            )
            for news in worker.work(work.targets):
                self._news.append(news)
        return worker.lost

    def progress(self, pause: float) -> FuzzProgress:
        time.sleep(pause)
        before, self._calls = self._calls, self._budget.spent.calls
        return FuzzProgress(_taken(self._started), _taken(self._news), self._calls - before)

    def stop(self) -> None:
        self._budget.stop()


def _taken(waiting: deque[Any]) -> tuple[Any, ...]:
    return tuple(waiting.popleft() for _ in range(len(waiting)))


class RayFuzzing:
    """Distributes specs among workers, at most as many as `jobs`.

    If a worker dies, another one fuzzes what has no final report yet.
    `lost` are specs that could not be finished, and why.
    """

    def __init__(
        self,
        settings: ToolRunSettings,
        run_budget: RunBudget,
        known: Iterable[Finding],
        seeds: SeedCorpus,
        starting: Callable[[str], None],
        notice: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._run_budget = run_budget
        self._known = tuple(known)
        self._seeds = seeds
        self._starting = starting
        self._notice = notice
        self._told = SimpleQueue[News | BaseException | None]()
        self._seen = set[str]()  # findings that were reported
        self._done = dict[str, ToolReport]()  # final reports, by target
        self._seconds = shared_time(settings, run_budget.used.seconds)
        self._seconds_each = 0.0  # for a weight of 1
        self.lost = dict[str, str]()

    def work(self, targets: Sequence[Left]) -> Generator[News]:
        """Fuzz the targets and yield results as they arrive."""
        thread = threading.Thread(target=self._run, args=(targets,), name="ray-fuzzing", daemon=True)
        thread.start()
        try:
            with stopping(self._run_budget):
                while (news := self._next()) is not None:
                    if isinstance(news, BaseException):
                        raise news
                    if isinstance(news, tuple):
                        if news[1].id in self._seen:
                            continue  # from a worker that was lost
                        self._seen.add(news[1].id)
                    yield news
        finally:
            self._run_budget.stop()
            thread.join()

    def _next(self) -> News | BaseException | None:
        while True:
            try:
                return self._told.get()
            except KeyboardInterrupt:
                self._run_budget.stop()

    def _run(self, targets: Sequence[Left]) -> None:
        try:
            asyncio.run(self._drive(targets))
        except BaseException as error:
            self._told.put(error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error)
        finally:
            self._told.put(None)

    async def _drive(self, targets: Sequence[Left]) -> None:
        self._notice("connecting to Ray" if self._settings.ray_address else "starting Ray")
        groups = dict[str, list[Left]]()
        for left in targets:
            groups.setdefault(left[0].spec, []).append(left)
        waiting = deque(groups.items())
        async with connected(self._settings.ray_address) as ray:
            cpus = int(ray.cluster_resources().get("CPU", 0))
            workers = max(1, min(self._settings.jobs, cpus, len(groups)))
            self._seconds_each = (self._seconds or 0.0) * workers / max(1.0, _weight(targets))
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._serve(ray, waiting))

    async def _serve(self, ray: Any, waiting: deque[tuple[str, list[Left]]]) -> None:
        # Without what workers don't need, which might hold a password.
        settings = self._settings.overlay({"store": "", "ray_address": "", "jobs": 1})
        while waiting and not self._run_budget.is_over():
            spec, targets = waiting.popleft()
            for _ in range(MOST_LOSSES):
                work = self._undone(settings, spec, targets)
                if self._run_budget.is_over() or not work.targets:
                    break
                if await self._finish(ray, spec, _packed(work)):
                    break
            else:
                self.lost[spec] = f"the worker process died {MOST_LOSSES} times while its tools were fuzzed"

    def _undone(self, settings: ToolRunSettings, spec: str, targets: Sequence[Left]) -> SpecWork:
        """The targets without a final report, and what others of the spec have shown."""
        left = tuple(each for each in targets if each[0].name not in self._done)
        names = {target.name for target, _ in targets}
        reports = [report for name, report in self._done.items() if name in names]
        shown = [each for report in reports for each in (*report.findings, *report.unconfirmed)]
        known = (*(finding for finding in self._known if finding.spec == spec), *shown)
        seconds = self._seconds and min(self._seconds, self._seconds_each * _weight(left))
        return SpecWork(settings, left, known, self._seeds, seconds)

    async def _finish(self, ray: Any, spec: str, packed: bytes) -> bool:
        """Fuzz the targets of a spec on a worker; False if that died."""
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_concurrency": 3}
        actor = ray.remote(**options)(FuzzActor).remote(packed, os.getcwd())
        ending = listen(actor.fuzz.remote())
        try:
            while not ending.done():
                self._hear(await listen(actor.progress.remote(BEAT)))
                if self._run_budget.is_over():
                    actor.stop.remote()
            lost: dict[str, str] = await ending
            self._hear(await listen(actor.progress.remote(0.0)))
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UsageError):
                raise error.cause from None
            raise InternalError(f"a worker failed with {type(error.cause).__name__}") from None
        except ray.exceptions.RayError:
            self._notice(f"a worker was lost; {os.path.basename(spec)} continues on another one")
            return False
        finally:
            ray.kill(actor)
        self.lost |= {name: f"{why}; {NEEDS}" for name, why in lost.items()}
        return True

    def _hear(self, progress: FuzzProgress) -> None:
        for name in progress.started:
            self._starting(name)
        for news in progress.news:
            if isinstance(news, ToolReport) and news.ended != "stopped":
                self._done[news.name] = news
            self._told.put(news)
        self._run_budget.call(progress.calls)


def _weight(targets: Sequence[Left]) -> float:
    most = most_tools(targets)
    return sum(weight_of(target, most) for target, _ in targets)


def _packed(work: SpecWork) -> bytes:
    packed = pickle.dumps(work)
    if any(secret.encode() in packed for secret in secrets_in(os.environ)):
        hint = "omit --from or --resume: what an earlier run has stored contains it"
        raise UsageError("the value of a secret environment variable would be sent to workers", hint)
    return packed
