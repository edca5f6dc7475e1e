"""The near side: workers on a Ray cluster that carry out the cases of a run.

The slots for workers: which one gets the next case.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any, Self

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.spending import Account, RateLimiters, Spent
from misstep.engine.ray.link import connected, listen
from misstep.engine.ray.rate_limit_actor import RateLimitActor
from misstep.engine.ray.worker import (
    NEEDS,
    Ended,
    Failure,
    Flight,
    MakeWorker,
    RayWorker,
    decode,
    encode,
    error_of,
)
from misstep.errors import InternalError, MisstepError, UsageError

PATIENCE = 60.0  # seconds without any worker
STRAGGLERS = 20.0  # seconds for others, once there is one


class WorkerSlot:
    """A place for one worker at a time, and the number of cases that it runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.hired = False  # a worker is there, ready or not
        self.worker: Any = None  # when it is ready
        self.load = 0
        self.reserved = False  # for a case that is to have it alone
        self.alone = False
        self.failure: MisstepError | None = None  # there will be no worker here


class WorkerSlots:
    """All seats of a crew; a case goes where there is least to do."""

    def __init__(self, count: int, patience: float = PATIENCE, stragglers: float = STRAGGLERS) -> None:
        self._patience = patience
        self._stragglers = stragglers
        self._all = [WorkerSlot(number) for number in range(count)]
        self._changed = asyncio.Event()
        self._since = asyncio.get_running_loop().time()  # when the last worker came, or there was none left

    def __iter__(self) -> Iterator[WorkerSlot]:
        return iter(self._all)

    def hire(self, writer: WorkerSlot) -> None:
        writer.hired = True
        self._tell()

    def fill(self, writer: WorkerSlot, worker: Any) -> None:
        writer.worker = worker
        self._since = asyncio.get_running_loop().time()
        self._tell()

    def vacate(self, writer: WorkerSlot) -> None:
        writer.hired, writer.worker = False, None
        if not self._manned():
            self._since = asyncio.get_running_loop().time()
        self._tell()

    def close(self, writer: WorkerSlot, failure: MisstepError) -> None:
        writer.failure = failure
        self._tell()

    async def filled(self) -> None:
        """Wait until all workers are ready, but not long for those that there may be no room for yet.

        How long an agent takes to get ready is its own business.
        """
        with suppress(TimeoutError):
            while not self._failures() and not all(writer.worker is not None for writer in self._all):
                await self._worker_soon()
        for failure in self._failures():
            raise failure
        if not self._manned():
            raise self._desertion()

    @asynccontextmanager
    async def take(self, alone: bool) -> AsyncIterator[WorkerSlot]:
        """The seat with the least to do; `alone` waits until that is nothing, and keeps others from it."""
        while True:
            writer = await self._lightest()
            worker = writer.worker
            writer.reserved = alone
            try:
                while alone and writer.load and writer.worker is worker:
                    await self._change()
                if writer.worker is worker:
                    with self._loaded(writer, alone):
                        yield writer
                    return
            finally:
                if alone:
                    writer.reserved = False
                    self._tell()

    @contextmanager
    def _loaded(self, writer: WorkerSlot, alone: bool) -> Iterator[None]:
        writer.load += 1
        writer.alone = alone
        try:
            yield
        finally:
            writer.load -= 1
            writer.alone = False
            self._tell()

    async def _lightest(self) -> WorkerSlot:
        while True:
            free = [writer for writer in self._all if writer.worker is not None and not writer.reserved]
            if free:
                return min(free, key=lambda writer: writer.load)
            await (self._change() if self._manned() else self._relief())

    async def _relief(self) -> None:
        """Wait for news when there is no worker at all, which can't go on for ever."""
        failures = self._failures()
        if len(failures) == len(self._all):
            raise failures[0]
        try:
            await self._worker_soon()
        except TimeoutError:
            raise self._desertion() from None

    async def _worker_soon(self) -> None:
        """Wait for news: as long as it takes if a worker is getting ready, else for a while."""
        soon = any(writer.hired and writer.worker is None for writer in self._all)
        limit = self._stragglers if self._manned() else self._patience
        async with asyncio.timeout_at(None if soon else self._since + limit):
            await self._change()

    def _failures(self) -> list[MisstepError]:
        return [writer.failure for writer in self._all if writer.failure]

    def _manned(self) -> bool:
        return any(writer.worker is not None for writer in self._all)

    async def _change(self) -> None:
        await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _desertion(self) -> MisstepError:
        return MisstepError(
            f"the Ray cluster has no worker, and none could be started within {self._patience:g} seconds",
            "ray status shows whether there are nodes with a free CPU",
        )


MOST_LOSSES = 3
PARTING = 10.0  # seconds for agents to give back what they hold
STOPPING = 2.0  # seconds for a cancelled case to say what it has used
BEAT = 0.2  # seconds between two pieces of news from a worker
NEWS_PER_SECOND = 100  # from all workers together, so that many of them don't keep the driver busy
SILENCE = 600.0  # seconds without news, and a worker is as good as lost: a case keeps it from everything
MOST_CALLS = 100_000  # that one actor answers at a time; those who wait for a place are among them
HINT = "name it with --agent file.py:name, and each worker makes its own"


class RayWorkerPool:
    """Prepares workers when entered; `make` gives them their agents, `rate_limiters` the limits they share.

    The cases of a lost worker are run again. One that loses its worker too often is `lost`: the last time it
    had the worker for itself, so that cases don't pay for what their neighbours do.
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
            self._actor = self._open_desk()
            stack.callback(self._ray.kill, self._actor)
            self._slots = WorkerSlots(self._room())
            self._keepers = [asyncio.create_task(self._keep(writer)) for writer in self._slots]
            stack.push_async_callback(self._dismiss)
            await self._slots.filled()
            self._stack = stack.pop_all()
        self._entered = True
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def execute(self, case: Case, account: Account) -> Outcome:
        """The outcome of a case; the account hears what it uses while it does."""
        data = encode(case)
        for losses in range(1, MOST_LOSSES + 1):
            async with self._slots.take(alone=losses == MOST_LOSSES) as writer:
                ended = await self._run(writer, data, account)
            if ended is None:
                continue
            if ended.failure:
                raise error_of(ended.failure)
            if ended.outcome is None:
                raise InternalError(f"a worker stopped case {case.id} by itself")
            return ended.outcome
        return self._lost(case, f"the worker process died {MOST_LOSSES} times while running this case")

    async def _run(self, writer: WorkerSlot, case: bytes, account: Account) -> Ended | None:
        """How a case ended; None where its worker was lost."""
        worker, ticket, flight = writer.worker, next(self._tickets), Flight(account)
        self._flights[ticket] = flight
        running = listen(worker.execute.remote(ticket, case))
        try:
            ended = decode(await asyncio.shield(running), Ended)
        except asyncio.CancelledError:
            worker.stop.remote(ticket)
            with suppress(Exception):
                async with asyncio.timeout(STOPPING):
                    flight.hear(decode(await running, Ended).spent)
            raise
        except self._ray.exceptions.RayTaskError as error:
            raise InternalError(f"a worker failed with {type(error.cause).__name__}") from None
        except self._ray.exceptions.RayError:
            self._lose(writer, worker)
            return None
        finally:
            del self._flights[ticket]
        flight.hear(ended.spent)
        return ended

    async def _keep(self, writer: WorkerSlot) -> None:
        """Have a worker in the seat, and another one when it is lost."""
        unready = 0
        try:
            while unready < MOST_LOSSES:
                unready = 0 if await self._employ(writer) else unready + 1
            raise MisstepError(f"a worker died {MOST_LOSSES} times while it prepared the agent", NEEDS)
        except MisstepError as error:
            self._slots.close(writer, error)
            if self._entered:
                self._tell(f"a worker that was lost can't be replaced: {error.message}")

    async def _employ(self, writer: WorkerSlot) -> bool:
        """The time of one worker, until it is lost; whether it ever was ready."""
        name, ready = f"{writer.number}.{next(self._tickets)}", False
        worker = self._hire(name)
        try:
            await self._begin(worker)
            self._slots.hire(writer)
            await self._prepare(worker)
            ready = True
            self._slots.fill(writer, worker)
            await self._listen(worker)
        except (self._ray.exceptions.RayError, TimeoutError):
            self._lose(writer, worker)
            self._actor.forget.remote(name)
        finally:
            self._slots.vacate(writer)
            self._ray.kill(worker)  # it may be alive, and only out of reach
        return ready

    async def _begin(self, worker: Any) -> None:
        """Wait until the worker is there, which takes as long as there is no room for it."""
        try:
            await listen(worker.news.remote(0.0))
        except self._ray.exceptions.ActorDiedError as error:
            if not error.actor_init_failed:
                raise
            reason = str(error).strip().rpartition("\n")[2]
            raise UsageError(f"a node can't run workers: {reason}", NEEDS) from None

    async def _prepare(self, worker: Any) -> None:
        trouble = await listen(worker.prepare.remote())
        if trouble:
            raise error_of(decode(trouble, Failure))

    async def _listen(self, worker: Any) -> None:
        """Pass on what cases use, until the worker is lost."""
        pause = max(BEAT, len(self._keepers) / NEWS_PER_SECOND)
        while True:
            async with asyncio.timeout(SILENCE):
                news = decode(await listen(worker.news.remote(pause)), dict[int, Spent])
            for ticket, spent in news.items():
                if ticket in self._flights:
                    self._flights[ticket].hear(spent)

    def _lose(self, writer: WorkerSlot, worker: Any) -> None:
        if writer.worker is not worker:
            return  # somebody else has noticed
        again = 0 if writer.alone else writer.load
        cases = "its case is" if again == 1 else f"its {again} cases are"
        self._slots.vacate(writer)
        self._tell(f"a worker was lost; {cases} run again" if again else "a worker was lost")

    def _room(self) -> int:
        """How many workers there may be: one for each CPU, and at least one to wait for."""
        return max(1, min(self._jobs, int(self._ray.cluster_resources().get("CPU", 0))))

    def _hire(self, name: str) -> Any:
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_concurrency": MOST_CALLS}
        return self._ray.remote(**options)(RayWorker).remote(self._packed, self._actor, name, os.getcwd())

    def _open_desk(self) -> Any:
        """The desk stands on the driver's own node: the two are lost together or not at all."""
        here = self._ray.get_runtime_context().get_node_id()
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        options = {"num_cpus": 0, "scheduling_strategy": strategy, "max_concurrency": MOST_CALLS}
        again = {"max_restarts": -1, "max_task_retries": -1}
        return self._ray.remote(**options, **again)(RateLimitActor).remote(self._rate_limiters)

    async def _dismiss(self) -> None:
        closing = [
            listen(writer.worker.close.remote()) for writer in self._slots if writer.worker is not None
        ]
        if closing:
            await asyncio.wait(closing, timeout=PARTING)
        for task in self._keepers:
            task.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)


def _pack(ray: Any, make: MakeWorker) -> bytes:
    secrets = secrets_in(os.environ)
    try:
        packed: bytes = ray.cloudpickle.dumps(make)
    except Exception as error:
        reason = Redactor(secrets)(str(error))
        raise UsageError(f"the agent can't be sent to other processes: {reason}", HINT) from error
    if any(secret.encode() in packed for secret in secrets):
        raise UsageError("the agent holds the value of a secret variable, which would travel with it", HINT)
    return packed
