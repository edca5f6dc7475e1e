"""The engines of this process, opened when they are needed, and the queue in front of them."""

import asyncio
import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from misstep.core.agent import Meter
from misstep.core.model import ModelError
from misstep.models.local.engine import Engine, Stopped, Work, Written
from misstep.models.local.memory import Memory

MOST_LANES = 4  # each takes a core and some 200 MB
STEP = 0.1  # seconds of waiting told at a time
PATIENCE = 10.0  # seconds that the end of the process waits for engines to close

Tell = Callable[[str], None]


class _Job:
    """A piece of work on its way from an event loop through a lane."""

    def __init__(self, work: Work, weights: Path, tell: Tell) -> None:
        self.work = work
        self.weights = weights
        self.unwanted = threading.Event()
        self.queued = self.taken = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.done: asyncio.Future[Written] = self._loop.create_future()

    def run(self, engine: Engine) -> Written | Exception:
        self.taken = time.monotonic()
        self._post(_settle, self.started, None)
        try:
            return engine.write(self.work, self.unwanted.is_set)
        except Exception as error:
            return error

    def end(self, outcome: Written | Exception) -> None:
        self._post(_settle, self.started, None)
        self._post(_settle, self.done, outcome)

    def tell(self, line: str) -> None:
        self._post(self._tell, line)

    def drop(self) -> None:
        self.unwanted.set()
        self.started.cancel()
        self.done.cancel()

    def _post(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # nobody hears anything once the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)


def _settle(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


class _Lane:
    """One engine's place in the queue: what it has read, and the job that it is to take."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.job: _Job | None = None


class Lanes:
    """Engines that work side by side, each in a thread of its own, on requests from any event loop.

    There are as many as requests have been under way at once, at most one per core. The weights are mapped
    into memory, so that all of them share one copy. Of those that are free, the one takes a job that has read
    most of it before.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._refusal = ""
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting = deque[_Job]()
        self._running = set[_Job]()
        self._free = list[_Lane]()
        self._threads = list[threading.Thread]()
        self._loading = threading.Lock()
        self._loaded = False

    def forget(self) -> None:
        """Begin anew in a forked process, where threads and engines are those of the parent.

        Once the runtime has been at work it doesn't survive a fork: closing a second one would hang.
        """
        if self._threads:
            self._refusal = "the embedded model was in use before this process was forked: start a new one"
        self._begin()

    async def write(self, work: Work, weights: Path, meter: Meter, tell: Tell) -> Written:
        """What an engine writes. The time until one is free is told to the meter as waiting.

        Whoever is cancelled goes on at once; the engine stops after the token, or the part of the prompt,
        that it is at. `tell` hears, on the caller's event loop, of the weights being loaded.
        """
        job = _Job(work, weights, tell)
        self._submit(job)
        try:
            await _wait_for_a_lane(job, meter)
            return await job.done
        finally:
            self._drop(job)

    def _submit(self, job: _Job) -> None:
        with self._changed:
            if self._refusal:
                raise ModelError(self._refusal)
            self._waiting.append(job)
            if len(self._waiting) + len(self._running) > len(self._threads) < self._most:
                self._open_lane(job)
            self._assign()

    def _drop(self, job: _Job) -> None:
        job.drop()
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)

    def _open_lane(self, job: _Job) -> None:
        if not self._threads:
            atexit.unregister(self.close)
            atexit.register(self.close)
        thread = threading.Thread(target=self._serve, args=(job,), name="embedded model", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, first: _Job) -> None:
        """The life of one lane, which is opened for the sake of a job that any lane may then take."""
        try:
            engine = self._load(first)
        except Exception as error:
            self._give_up(error)
            return
        lane = _Lane()
        self._free_up(lane)
        while job := self._next(lane):
            outcome = job.run(engine)
            self._free_up(lane)  # before anybody hears of it: the next turn belongs in this lane
            job.end(outcome)
        engine.close()

    def _load(self, job: _Job) -> Engine:
        with self._loading:
            if self._loaded:
                return Engine(job.weights)
            job.tell("loading the embedded model SmolLM2-135M (98 MB), once per process")
            time.sleep(STEP)  # for the line to be shown: nobody else runs while the weights are loaded
            began = time.monotonic()
            engine = Engine(job.weights)
            self._loaded = True
            job.tell(f"ready after {time.monotonic() - began:.1f} s")
            return engine

    def _free_up(self, lane: _Lane) -> None:
        with self._changed:
            if lane.job:
                self._running.discard(lane.job)
            lane.job = None
            self._free.append(lane)
            self._assign()

    def _next(self, lane: _Lane) -> _Job | None:
        """The job that this lane is to take; None when it is time to end."""
        with self._changed:
            while lane.job is None and not self._refusal:
                self._changed.wait()
            return lane.job

    def _assign(self) -> None:
        """Lanes for the jobs that have waited longest, as long as there are any."""
        while self._waiting and self._free:
            job = self._waiting.popleft()
            known = [lane.memory.overlap(job.work.prompt) for lane in self._free]
            lane = self._free.pop(known.index(max(known)))
            lane.memory.keep(job.work.prompt)
            lane.job = job
            self._running.add(job)
            self._changed.notify_all()

    def _give_up(self, error: Exception) -> None:
        """Close a lane that doesn't open; without any other, nobody is left to wait for."""
        with self._changed:
            self._threads.remove(threading.current_thread())
            while self._waiting and not self._threads:
                self._waiting.pop().end(error)

    def close(self) -> None:
        """Stop everything and free the weights, before the interpreter goes away under the threads' feet."""
        with self._changed:
            self._refusal = "the embedded model has been closed: the process is ending"
            for job in self._running:
                job.unwanted.set()
            while self._waiting:
                self._waiting.pop().end(Stopped())
            self._changed.notify_all()
            threads = tuple(self._threads)
        for thread in threads:
            thread.join(PATIENCE)


async def _wait_for_a_lane(job: _Job, meter: Meter) -> None:
    told = 0.0
    await asyncio.wait((job.started,), timeout=STEP / 10)  # a free lane takes no longer
    while not job.started.done():
        meter.wait(STEP)
        told += STEP
        await asyncio.wait((job.started,), timeout=STEP)
    # While the runtime loads it lets nobody else run, so that some of the time may be over already.
    if (untold := job.taken - job.queued - told) > STEP:
        meter.wait(untold)


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


LANES = Lanes(min(MOST_LANES, usable_cores()))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LANES.forget)
