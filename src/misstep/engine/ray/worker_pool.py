"""The driver's side of a Ray run: starts workers, assigns cases to them, replaces lost ones."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Self

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.spending import Account, RateLimiters, Spent
from misstep.engine.ray.link import connected, listen
from misstep.engine.ray.rate_limit_actor import RateLimitActor
from misstep.engine.ray.worker import NEEDS, Ended, Failure, Flight, MakeWorker, RayWorker, error_of
from misstep.errors import InternalError, MisstepError, UsageError

PATIENCE = 60.0  # seconds without any worker
STRAGGLERS = 20.0  # seconds to wait for others, once there is one


class WorkerSlot(msgspec.Struct, eq=False):
    """A slot for one worker at a time, and the number of cases that it runs."""

    number: int
    hired: bool = False  # a worker exists, ready or not
    worker: Any = None  # once it is ready
    load: int = 0
    reserved: bool = False  # for a case that needs the worker alone
    alone: bool = False
    failure: MisstepError | None = None  # no worker will start here


class WorkerSlots:
    """All slots of a pool; a case goes to the least loaded worker."""

    def __init__(self, count: int, patience: float = PATIENCE, stragglers: float = STRAGGLERS) -> None:
        self._patience = patience
        self._stragglers = stragglers
        self._all = [WorkerSlot(number) for number in range(count)]
        self._changed = asyncio.Event()
        self._since = asyncio.get_running_loop().time()  # when a worker last became ready or was lost

    def __iter__(self) -> Iterator[WorkerSlot]:
        return iter(self._all)

    def hire(self, slot: WorkerSlot) -> None:
        slot.hired = True
        self._tell()

    def fill(self, slot: WorkerSlot, worker: Any) -> None:
        slot.worker = worker
        self._since = asyncio.get_running_loop().time()
        self._tell()

    def vacate(self, slot: WorkerSlot) -> None:
        slot.hired, slot.worker = False, None
        if not self._has_workers():
            self._since = asyncio.get_running_loop().time()
        self._tell()

    def close(self, slot: WorkerSlot, failure: MisstepError) -> None:
        slot.failure = failure
        self._tell()

    async def filled(self) -> None:
        """Wait until all workers are ready, but not long for those the cluster may have no room for yet.

        There is no limit on how long an agent may take to get ready.
        """
        with suppress(TimeoutError):
            while not self._failures() and not all(slot.worker is not None for slot in self._all):
                await self._worker_soon()
        for failure in self._failures():
            raise failure
        if not self._has_workers():
            raise self._no_workers_error()

    @asynccontextmanager
    async def take(self, alone: bool) -> AsyncIterator[WorkerSlot]:
        """The least loaded slot; `alone` waits until it is idle and keeps other cases out."""
        while True:
            slot = await self._lightest()
            worker = slot.worker
            slot.reserved = alone
            try:
                while alone and slot.load and slot.worker is worker:
                    await self._changed.wait()
                if slot.worker is worker:
                    slot.load += 1
                    slot.alone = alone
                    try:
                        yield slot
                    finally:
                        slot.load -= 1
                        slot.alone = False
                        self._tell()
                    return
            finally:
                if alone:
                    slot.reserved = False
                    self._tell()

    async def _lightest(self) -> WorkerSlot:
        while True:
            free = [slot for slot in self._all if slot.worker is not None and not slot.reserved]
            if free:
                return min(free, key=lambda slot: slot.load)
            if self._has_workers():
                await self._changed.wait()
                continue
            failures = self._failures()
            if len(failures) == len(self._all):
                raise failures[0]
            try:
                await self._worker_soon()
            except TimeoutError:
                raise self._no_workers_error() from None

    async def _worker_soon(self) -> None:
        """Wait for a change: without limit if a worker is getting ready, else for a while."""
        soon = any(slot.hired and slot.worker is None for slot in self._all)
        limit = self._stragglers if self._has_workers() else self._patience
        async with asyncio.timeout_at(None if soon else self._since + limit):
            await self._changed.wait()

    def _failures(self) -> list[MisstepError]:
        return [slot.failure for slot in self._all if slot.failure]

    def _has_workers(self) -> bool:
        return any(slot.worker is not None for slot in self._all)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _no_workers_error(self) -> MisstepError:
        return MisstepError(
            f"the Ray cluster has no worker, and none could be started within {self._patience:g} seconds",
            "ray status shows whether there are nodes with a free CPU",
        )


MOST_LOSSES = 3
PARTING = 10.0  # seconds for agents to release their resources
STOPPING = 2.0  # seconds for a cancelled case to report what it has used
BEAT = 0.2  # seconds between two reports of a worker
NEWS_PER_SECOND = 100  # reports from all workers together, so that many workers don't overload the driver
SILENCE = 600.0  # seconds without a report after which a worker counts as lost: a case blocks it
MOST_CALLS = 100_000  # concurrent calls of one actor, including those that wait for a slot
HINT = "pass --agent file.py:name, so that each worker loads it"


class RayWorkerPool:
    """A pool of workers; `make` creates their agents, `rate_limiters` the rate limits they share.

    Entering it starts and prepares the workers. The cases of a lost worker are run again. A case that loses
    its worker too often counts as lost; its last try had a worker to itself, so that no other case was the
    cause.
    """

    def __init__(
        self,
        make: MakeWorker,
        rate_limiters: RateLimiters,
        lost: Callable[[Case, str], Outcome],
        *,
        address: str,
        jobs: int,
        tell: Callable[[str], None],
    ) -> None:
        self._make = make
        self._rate_limiters = rate_limiters
        self._lost = lost
        self._address = address
        self._jobs = jobs
        self._tell = tell
        self._flights = dict[int, Flight]()
        self._tickets = itertools.count()
        self._entered = False

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._ray = await stack.enter_async_context(connected(self._address))
            self._packed = _pack(self._ray, self._make)
            self._actor = self._start_actor()
            stack.callback(self._ray.kill, self._actor)
            # One worker per CPU, and at least one to wait for.
            cpus = int(self._ray.cluster_resources().get("CPU", 0))
            self._slots = WorkerSlots(max(1, min(self._jobs, cpus)))
            self._slot_tasks = [asyncio.create_task(self._keep(slot)) for slot in self._slots]
            stack.push_async_callback(self._dismiss)
            await self._slots.filled()
            self._stack = stack.pop_all()
        self._entered = True
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def execute(self, case: Case, account: Account) -> Outcome:
        """Run a case; the account is told what it uses while it runs."""
        data = msgspec.json.encode(case)
        for losses in range(1, MOST_LOSSES + 1):
            async with self._slots.take(alone=losses == MOST_LOSSES) as slot:
                ended = await self._run(slot, data, account)
            if ended is None:
                continue
            if ended.failure:
                raise error_of(ended.failure)
            if ended.outcome is None:
                raise InternalError(f"a worker stopped case {case.id} unexpectedly")
            return ended.outcome
        return self._lost(case, f"the worker process died {MOST_LOSSES} times while running this case")

    async def _run(self, slot: WorkerSlot, case: bytes, account: Account) -> Ended | None:
        worker, ticket, flight = slot.worker, next(self._tickets), Flight(account)
        self._flights[ticket] = flight
        running = listen(worker.execute.remote(ticket, case))
        try:
            ended = msgspec.json.decode(await asyncio.shield(running), type=Ended)
        except asyncio.CancelledError:
            worker.stop.remote(ticket)
            with suppress(Exception):
                async with asyncio.timeout(STOPPING):
                    flight.hear(msgspec.json.decode(await running, type=Ended).spent)
            raise
        except self._ray.exceptions.RayTaskError as error:
            raise InternalError(f"a worker failed with {type(error.cause).__name__}") from None
        except self._ray.exceptions.RayError:
            self._lose(slot, worker)
            return None
        finally:
            del self._flights[ticket]
        flight.hear(ended.spent)
        return ended

    async def _keep(self, slot: WorkerSlot) -> None:
        unready = 0
        try:
            while unready < MOST_LOSSES:
                unready = 0 if await self._run_worker(slot) else unready + 1
            raise MisstepError(f"a worker died {MOST_LOSSES} times while loading the agent", NEEDS)
        except MisstepError as error:
            self._slots.close(slot, error)
            if self._entered:
                self._tell(f"a worker that was lost can't be replaced: {error.message}")

    async def _run_worker(self, slot: WorkerSlot) -> bool:
        """Run one worker until it is lost; returns whether it ever was ready."""
        name, ready = f"{slot.number}.{next(self._tickets)}", False
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_concurrency": MOST_CALLS}
        worker = self._ray.remote(**options)(RayWorker).remote(self._packed, self._actor, name, os.getcwd())
        try:
            await self._begin(worker)
            self._slots.hire(slot)
            if failure := await listen(worker.prepare.remote()):
                raise error_of(msgspec.json.decode(failure, type=Failure))
            ready = True
            self._slots.fill(slot, worker)
            await self._listen(worker)
        except (self._ray.exceptions.RayError, TimeoutError):
            self._lose(slot, worker)
            self._actor.forget.remote(name)
        finally:
            self._slots.vacate(slot)
            self._ray.kill(worker)  # it may be alive but unreachable
        return ready

    async def _begin(self, worker: Any) -> None:
        """Wait until the worker has started, which takes as long as the cluster has no room for it."""
        try:
            await listen(worker.news.remote(0.0))
        except self._ray.exceptions.ActorDiedError as error:
            if not error.actor_init_failed:
                raise
            reason = str(error).strip().rpartition("\n")[2]
            raise UsageError(f"a node can't run workers: {reason}", NEEDS) from None

    async def _listen(self, worker: Any) -> None:
        """Forward what cases use to their accounts, until the worker is lost."""
        pause = max(BEAT, len(self._slot_tasks) / NEWS_PER_SECOND)
        while True:
            async with asyncio.timeout(SILENCE):
                news = msgspec.json.decode(await listen(worker.news.remote(pause)), type=dict[int, Spent])
            for ticket, spent in news.items():
                if ticket in self._flights:
                    self._flights[ticket].hear(spent)

    def _lose(self, slot: WorkerSlot, worker: Any) -> None:
        if slot.worker is not worker:
            return  # the loss was noticed elsewhere
        again = 0 if slot.alone else slot.load
        cases = "its case is" if again == 1 else f"its {again} cases are"
        self._slots.vacate(slot)
        self._tell(f"a worker was lost; {cases} run again" if again else "a worker was lost")

    def _start_actor(self) -> Any:
        """Start the rate-limit actor on the driver's own node, so that neither can be lost alone."""
        here = self._ray.get_runtime_context().get_node_id()
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        options = {"num_cpus": 0, "scheduling_strategy": strategy, "max_concurrency": MOST_CALLS}
        again = {"max_restarts": -1, "max_task_retries": -1}
        return self._ray.remote(**options, **again)(RateLimitActor).remote(self._rate_limiters)

    async def _dismiss(self) -> None:
        closing = [listen(slot.worker.close.remote()) for slot in self._slots if slot.worker is not None]
        if closing:
            await asyncio.wait(closing, timeout=PARTING)
        for task in self._slot_tasks:
            task.cancel()
        await asyncio.gather(*self._slot_tasks, return_exceptions=True)


def _pack(ray: Any, make: MakeWorker) -> bytes:
    secrets = secrets_in(os.environ)
    try:
        packed: bytes = ray.cloudpickle.dumps(make)
    except Exception as error:
        reason = Redactor(secrets)(str(error))
        raise UsageError(f"the agent can't be sent to other processes: {reason}", HINT) from error
    if any(secret.encode() in packed for secret in secrets):
        raise UsageError(
            "the agent contains the value of a secret environment variable, which would be sent with it", HINT
        )
    return packed
