"""The engines of this process, opened when they are needed, and the queue in front of them.

A piece of work on its way from an event loop to an engine.

What an engine has read lately, so that a conversation goes on where most of it is known already.
"""

import asyncio
import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from misstep.core.agent import Meter
from misstep.core.model import ModelError
from misstep.models.local.engine import (
    Engine,
    ModelFiles,
    WritingJob,
    WritingStopped,
    WrittenText,
    usable_cores,
)

STEP = 0.1  # seconds of waiting told at a time

Tell = Callable[[str], None]


class Job:
    """What is to be written with which files, and who waits for it."""

    def __init__(self, work: WritingJob, files: ModelFiles, tell: Tell) -> None:
        self.work = work
        self.files = files
        self.unwanted = threading.Event()
        self.queued = self.taken = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.done: asyncio.Future[WrittenText] = self._loop.create_future()

    async def wait_for_a_lane(self, meter: Meter) -> None:
        """Until an engine takes it; the time is told to the meter as waiting."""
        told = 0.0
        await asyncio.wait((self.started,), timeout=STEP / 10)  # a free lane takes no longer
        while not self.started.done():
            meter.wait(STEP)
            told += STEP
            await asyncio.wait((self.started,), timeout=STEP)
        # While the runtime loads it lets nobody else run, so that some of the time may be over already.
        if (untold := self.taken - self.queued - told) > STEP:
            meter.wait(untold)

    def run(self, engine: Engine) -> WrittenText | Exception:
        self.taken = time.monotonic()
        self._post(_settle, self.started, None)
        try:
            return engine.write(self.work, self.unwanted.is_set)
        except Exception as error:
            return error

    def end(self, outcome: WrittenText | Exception) -> None:
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


LATELY = 16  # prompts; of conversations of a usual length, an engine's cache holds more

Prompt = Sequence[int | str]


class Memory:
    """The prompts that one engine has read; its own cache decides how much of them it still knows."""

    def __init__(self) -> None:
        self._read = deque[Prompt](maxlen=LATELY)

    def keep(self, prompt: Prompt) -> None:
        self._read.append(prompt)

    def overlap(self, prompt: Prompt) -> int:
        """How much of the beginning has been read, in characters."""
        return max([_shared(prompt, earlier) for earlier in self._read], default=0)


def _shared(one: Prompt, other: Prompt) -> int:
    """The length of what two prompts begin with, a control token counting as one character."""
    length = 0
    for piece, its in zip(one, other, strict=False):
        if piece != its:
            return length + _shared_letters(str(piece), str(its))
        length += len(piece) if isinstance(piece, str) else 1
    return length


def _shared_letters(one: str, other: str) -> int:
    different = (place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its)
    return next(different, min(len(one), len(other)))


MOST_LANES = 4  # each takes a core and some 200 MB
PATIENCE = 60.0  # seconds that the end of the process waits for engines to stop; busy machines may need them
IDLE = 0.3  # seconds; a conversation's next turn is there sooner, unless its tools are slow
LITTLE = 200  # characters; so much is rather read again than waited for


class _Lane:
    """One engine's place in the queue: its files, what it has read, and the job that it is to take."""

    def __init__(self, files: ModelFiles) -> None:
        self.files = files
        self.memory = Memory()
        self.job: Job | None = None
        self.free_since = 0.0


class Lanes:
    """Engines that work side by side, each in a thread of its own, on requests from any event loop.

    Of each model there are as many as requests have been under way to it at once, at most one per core; no
    more than that are ever at work. The weights are mapped into memory, so that all of them share one copy.
    A job goes to the one that has read most of it before. Another one takes it only if it knows nearly as
    much, or has had nothing to do for a while: reading a conversation anew takes longer than the turns of
    others.
    """

    def __init__(self, most: int, idle: float = IDLE) -> None:
        self._most = most
        self._idle = idle
        self._refusal = ""
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting = deque[Job]()
        self._running = set[Job]()
        self._free = list[_Lane]()
        self._lanes = dict[threading.Thread, _Lane]()
        self._loading = threading.Lock()
        self._loaded = False

    def forget(self) -> None:
        """Begin anew in a forked process, where threads and engines are those of the parent.

        Once the runtime has been at work it doesn't survive a fork: closing a second one would hang.
        """
        if self._lanes:
            self._refusal = "the embedded model was in use before this process was forked: start a new one"
        self._begin()

    async def write(self, work: WritingJob, files: ModelFiles, meter: Meter, tell: Tell) -> WrittenText:
        """What an engine with these files writes. The time until one is free is told to the meter as waiting.

        Whoever is cancelled goes on at once; the engine stops after the token, or the part of the prompt,
        that it is at. `tell` hears, on the caller's event loop, of the weights being loaded.
        """
        job = Job(work, files, tell)
        self._submit(job)
        try:
            await job.wait_for_a_lane(meter)
            return await job.done
        finally:
            self._drop(job)

    def _submit(self, job: Job) -> None:
        with self._changed:
            if self._refusal:
                raise ModelError(self._refusal)
            self._waiting.append(job)
            under_way = sum(other.files == job.files for other in (*self._waiting, *self._running))
            if under_way > self._count(job.files) < self._most:
                self._open_lane(job)
            self._assign()
            self._changed.notify_all()  # whoever is free looks again in a while

    def _count(self, files: ModelFiles) -> int:
        return sum(lane.files == files for lane in self._lanes.values())

    def _drop(self, job: Job) -> None:
        job.drop()
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)

    def _open_lane(self, job: Job) -> None:
        if not self._lanes:
            atexit.unregister(self.close)
            atexit.register(self.close)
        lane = _Lane(job.files)
        thread = threading.Thread(target=self._serve, args=(lane, job), name="embedded model", daemon=True)
        self._lanes[thread] = lane
        thread.start()

    def _serve(self, lane: _Lane, first: Job) -> None:
        """The life of one lane, which is opened for the sake of a job that any lane may then take."""
        try:
            engine = self._load(first)
        except Exception as error:
            self._give_up(lane, error)
            return
        self._free_up(lane)
        while job := self._next(lane):
            outcome = job.run(engine)
            self._free_up(lane)  # before anybody hears of it: the next turn belongs in this lane
            job.end(outcome)
        engine.close()

    def _load(self, job: Job) -> Engine:
        with self._loading:
            if self._loaded:
                return Engine(job.files)
            job.tell("loading the embedded model SmolLM2-135M (98 MB), once per process")
            time.sleep(STEP)  # for the line to be shown: nobody else runs while the weights are loaded
            began = time.monotonic()
            engine = Engine(job.files)
            self._loaded = True
            job.tell(f"ready after {time.monotonic() - began:.1f} s")
            return engine

    def _free_up(self, lane: _Lane) -> None:
        with self._changed:
            if lane.job:
                self._running.discard(lane.job)
            lane.job = None
            lane.free_since = time.monotonic()
            self._free.append(lane)
            self._assign()

    def _next(self, lane: _Lane) -> Job | None:
        """The job that this lane is to take; None when it is time to end."""
        with self._changed:
            while lane.job is None and not self._refusal:
                self._changed.wait(self._idle if self._waiting else None)
                self._assign()
            return lane.job

    def _assign(self) -> None:
        """Lanes for the jobs that have waited longest, as long as there are any for them."""
        idle_since = time.monotonic() - self._idle
        for job in tuple(self._waiting):
            if len(self._running) == self._most:
                return
            lanes = [lane for lane in self._lanes.values() if lane.files == job.files]
            known = {lane: lane.memory.overlap(job.work.prompt) for lane in lanes}
            enough = max(known.values(), default=0) - LITTLE
            fit = [lane for lane in lanes if known[lane] >= enough or lane.free_since <= idle_since]
            if free := [lane for lane in fit if lane in self._free]:
                self._hand_over(job, max(free, key=known.__getitem__))

    def _hand_over(self, job: Job, lane: _Lane) -> None:
        self._waiting.remove(job)
        self._free.remove(lane)
        lane.memory.keep(job.work.prompt)
        lane.job = job
        self._running.add(job)
        self._changed.notify_all()

    def _give_up(self, lane: _Lane, error: Exception) -> None:
        """Close a lane that doesn't open; without any other, nobody is left to wait for."""
        with self._changed:
            del self._lanes[threading.current_thread()]
            if not self._count(lane.files):
                for job in [job for job in self._waiting if job.files == lane.files]:
                    self._waiting.remove(job)
                    job.end(error)

    def close(self) -> None:
        """Stop everything and free the weights, before the interpreter goes away under the threads' feet."""
        with self._changed:
            self._refusal = "the embedded model has been closed: the process is ending"
            for job in self._running:
                job.unwanted.set()
            while self._waiting:
                self._waiting.pop().end(WritingStopped())
            self._changed.notify_all()
            threads = tuple(self._lanes)
        for thread in threads:
            thread.join(PATIENCE)


LANES = Lanes(min(MOST_LANES, usable_cores()))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LANES.forget)
