"""Engines of the embedded model in this process, opened on demand, and the queue of jobs for them.

Each engine is a lane with a thread of its own. A job prefers the lane that has already processed most of its
prompt.
"""

import asyncio
import atexit
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

from misstep.core.agent import Meter
from misstep.core.model import ModelError
from misstep.models.local.engine import Engine, ModelFiles, WritingJob, WritingStopped, WrittenText, cpu_count

STEP = 0.1  # seconds of waiting reported at a time

Tell = Callable[[str], None]


class Job:
    """What to generate with which files, and the future that waits for it."""

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
        """Wait until an engine takes the job; the time is reported to the meter as waiting."""
        told = 0.0
        await asyncio.wait((self.started,), timeout=STEP / 10)  # a free lane takes no longer
        while not self.started.done():
            meter.wait(STEP)
            told += STEP
            await asyncio.wait((self.started,), timeout=STEP)
        # While the runtime loads, no other thread runs, so some of the time may not have been reported yet.
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
        with suppress(RuntimeError):  # the loop is closed: nothing listens any longer
            self._loop.call_soon_threadsafe(function, *arguments)


def _settle(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


Prompt = Sequence[int | str]


def _shared(one: Prompt, other: Prompt) -> int:
    """The length of the common prefix of two prompts; a control token counts as one character."""
    length = 0
    for piece, its in zip(one, other, strict=False):
        if piece != its:
            letters = zip(str(piece), str(its), strict=False)
            return length + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))
        length += len(piece) if isinstance(piece, str) else 1
    return length


LATELY = 16  # prompts; for conversations of usual length, an engine's cache holds more
MOST_LANES = 4  # each takes a core and some 200 MB
PATIENCE = 60.0  # seconds that process exit waits for engines to stop; busy machines may need them
IDLE = 0.3  # seconds; a conversation's next turn comes sooner, unless its tools are slow
LITTLE = 200  # characters that are processed again rather than waiting for another lane


class _Lane:
    """One engine in the pool: its files, the prompts it has processed, and its next job.

    The engine's own cache decides how much of the prompts it still has.
    """

    def __init__(self, files: ModelFiles) -> None:
        self.files = files
        self._prompts = deque[Prompt](maxlen=LATELY)
        self.job: Job | None = None
        self.free_since = math.inf  # until its engine has opened

    def take(self, job: Job) -> None:
        self.job = job
        self._prompts.append(job.work.prompt)

    def overlap(self, prompt: Prompt) -> int:
        """How much of the beginning has been processed before, in characters."""
        return max([_shared(prompt, earlier) for earlier in self._prompts], default=0)


class Lanes:
    """Engines that run concurrently, each in its own thread, for requests from any event loop.

    Each model has as many as it has had concurrent requests, at most one per core; no more than that run at
    the same time. The weights are memory-mapped, so that all engines share one copy. A job goes to the engine
    that has processed most of it before. Another one takes it only if it has nearly as much, or has been idle
    for a while: processing a conversation again takes longer than waiting for other turns.
    """

    def __init__(self, most: int, idle: float = IDLE) -> None:
        self._most = most
        self._idle = idle
        self._refusal = ""
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting = deque[Job]()
        self._lanes = dict[threading.Thread, _Lane]()
        self._loading = threading.Lock()
        self._loaded = False

    def forget(self) -> None:
        """Start fresh in a forked process, where threads and engines are those of the parent.

        Once the runtime has been used it doesn't survive a fork: closing a second one would hang.
        """
        if self._lanes:
            self._refusal = "the embedded model was in use before this process was forked: start a new one"
        self._begin()

    async def write(self, work: WritingJob, files: ModelFiles, meter: Meter, tell: Tell) -> WrittenText:
        """Generate text with an engine for these files; the wait for a free one is reported to the meter.

        On cancellation the caller continues at once; the engine stops after the current token or prompt
        batch. `tell` is called on the caller's event loop when the weights are loaded.
        """
        job = Job(work, files, tell)
        self._submit(job)
        try:
            await job.wait_for_a_lane(meter)
            return await job.done
        finally:
            job.drop()
            with self._changed, suppress(ValueError):  # it is not waiting any longer
                self._waiting.remove(job)

    def _submit(self, job: Job) -> None:
        with self._changed:
            if self._refusal:
                raise ModelError(self._refusal)
            self._waiting.append(job)
            under_way = sum(other.files == job.files for other in (*self._waiting, *self._running()))
            if under_way > self._count(job.files) < self._most:
                self._open_lane(job)
            self._assign()
            self._changed.notify_all()  # free lanes check again after a while

    def _running(self) -> list[Job]:
        return [lane.job for lane in self._lanes.values() if lane.job]

    def _count(self, files: ModelFiles) -> int:
        return sum(lane.files == files for lane in self._lanes.values())

    def _open_lane(self, job: Job) -> None:
        if not self._lanes:
            atexit.unregister(self.close)
            atexit.register(self.close)
        lane = _Lane(job.files)
        thread = threading.Thread(target=self._serve, args=(lane, job), name="embedded model", daemon=True)
        self._lanes[thread] = lane
        thread.start()

    def _serve(self, lane: _Lane, first: Job) -> None:
        """The main loop of one lane, opened because of a job that any lane may then take."""
        try:
            engine = self._load(first)
        except Exception as error:
            self._give_up(lane, error)
            return
        self._free_up(lane)
        while job := self._next(lane):
            outcome = job.run(engine)
            self._free_up(lane)  # before reporting the result: the next turn should go to this lane
            job.end(outcome)
        engine.close()

    def _load(self, job: Job) -> Engine:
        with self._loading:
            if self._loaded:
                return Engine(job.files)
            job.tell("loading the embedded model SmolLM2-135M (98 MB), once per process")
            time.sleep(STEP)  # so that the message is shown: no other thread runs while the weights load
            began = time.monotonic()
            engine = Engine(job.files)
            self._loaded = True
            job.tell(f"ready after {time.monotonic() - began:.1f} s")
            return engine

    def _free_up(self, lane: _Lane) -> None:
        with self._changed:
            lane.job = None
            lane.free_since = time.monotonic()
            self._assign()

    def _next(self, lane: _Lane) -> Job | None:
        """The next job of this lane; None at shutdown."""
        with self._changed:
            while lane.job is None and not self._refusal:
                self._changed.wait(self._idle if self._waiting else None)
                self._assign()
            return lane.job

    def _assign(self) -> None:
        idle_since = time.monotonic() - self._idle
        for job in tuple(self._waiting):
            if len(self._running()) == self._most:
                return
            lanes = [lane for lane in self._lanes.values() if lane.files == job.files]
            known = {lane: lane.overlap(job.work.prompt) for lane in lanes}
            enough = max(known.values(), default=0) - LITTLE
            free = [lane for lane in lanes if lane.job is None and lane.free_since < math.inf]
            if fit := [lane for lane in free if known[lane] >= enough or lane.free_since <= idle_since]:
                self._waiting.remove(job)
                max(fit, key=known.__getitem__).take(job)
                self._changed.notify_all()

    def _give_up(self, lane: _Lane, error: Exception) -> None:
        """Remove a lane whose engine failed to open; if it was the last one, its jobs fail too."""
        with self._changed:
            del self._lanes[threading.current_thread()]
            if not self._count(lane.files):
                for job in [job for job in self._waiting if job.files == lane.files]:
                    self._waiting.remove(job)
                    job.end(error)

    def close(self) -> None:
        """Stop everything and free the weights, before the interpreter shuts down."""
        with self._changed:
            self._refusal = "the embedded model has been closed: the process is ending"
            for job in self._running():
                job.unwanted.set()
            while self._waiting:
                self._waiting.pop().end(WritingStopped())
            self._changed.notify_all()
            threads = tuple(self._lanes)
        for thread in threads:
            thread.join(PATIENCE)


LANES = Lanes(min(MOST_LANES, cpu_count()))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LANES.forget)
