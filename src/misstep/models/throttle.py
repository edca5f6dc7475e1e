"""Keeps requests to a model within its server's limits: queue, adaptive rate, retries.

The limits are shared by all threads and event loops; each waiter is woken on its own event loop.
"""

import asyncio
import email.utils
import math
import random
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import islice
from typing import TypeVar

from misstep.core.agent import Meter
from misstep.core.model import Unavailable
from misstep.core.spending import TURN, RateLimiter, wait


class WaitingTurn:
    """One waiter in the queue; `is_called` from when it is woken until it has checked."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._woken = asyncio.Event()
        self.is_called = False

    async def wait(self, seconds: float, meter: Meter) -> None:
        """Wait to be called, at most this long; returns at once if already called."""
        await wait(seconds, meter, self._woken)
        self._woken.clear()
        self.is_called = False

    def call(self) -> bool:
        """Wake the waiter, from any thread; False if its loop is closed."""
        self.is_called = True  # first, because it may wake up before the next line is done
        try:
            if self._thread == threading.get_ident():
                self._woken.set()  # without the system call needed to wake another thread's loop
            else:
                self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:  # the loop is closed
            return False
        return True


STEP = 0.5  # seconds after which a case checks again whether it may start sooner
MINUTE = 60.0
GROWTH = 1.1  # of the rate, for each interval without a refusal
BREATHER = 10.0
MARGIN = 0.8  # of the rate at which the server refused


class Throttle:
    """Limits concurrent requests and requests per minute, across all threads and event loops.

    A refusal (429) halves the concurrent requests, pauses all requests for as long as the server says, and
    lowers the rate below the refused one; success lets both grow back slowly. Refusals of requests that
    started before the last refusal don't count again.
    """

    def __init__(
        self, in_flight: int, per_minute: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = in_flight
        self._allowed = float(in_flight)
        self._most_per_minute = per_minute
        self.pace = per_minute  # requests that may be started per minute now
        self._clock = clock
        self._running = 0
        self._starts = deque[float]()
        self._paused_until = 0.0
        self._refused_at = float("-inf")
        self._grown_at = 0.0
        # In the order in which they came; it finds its first item fast after removals, unlike a dict.
        self._waiting = OrderedDict[WaitingTurn, None]()
        # Held briefly and never while waiting. It is reentrant, because cleanup after a closed loop can run
        # at any moment, even while this thread holds it.
        self._lock = threading.RLock()

    @property
    def allowed(self) -> int:
        """The number of requests that may be in flight now."""
        return max(1, int(self._allowed))

    def slot(self, meter: Meter) -> AbstractAsyncContextManager[float]:
        """A slot for a request, with its start time; the time spent waiting is reported to the meter."""
        return _Slot(self, meter)

    async def enter(self, meter: Meter) -> float:
        began = self._start()
        return await self._queue(meter) if began is None else began

    def leave(self) -> None:
        with self._lock:
            self._running -= 1
            self._call(self._most)

    def refused(self, began: float, pause: float) -> None:
        """The server refused a request that started at `began`."""
        with self._lock:
            now = self._clock()
            self._paused_until = max(self._paused_until, now + pause)
            if began < self._refused_at:
                return
            self._refused_at = now
            self._allowed = max(1.0, self._allowed / 2)
            recent = self._recent(now)
            observed = recent * MINUTE / max(1.0, now - self._starts[0]) if recent else 0.0
            refused = max(1.0, observed * MARGIN)
            self.pace = refused if self.pace is None else min(self.pace, refused)
            self._grown_at = now

    def succeeded(self) -> None:
        with self._lock:
            self._allowed = min(float(self._most), self._allowed + 1 / self._allowed)
            now = self._clock()
            if self.pace is not None and now - self._grown_at >= BREATHER:
                self._grown_at = now
                self.pace = min(self.pace * GROWTH + 1, self._most_per_minute or float("inf"))

    def _delay(self, ahead: int = 0) -> float:
        """Seconds until a request may start, after those `ahead`; infinite if all slots are taken."""
        now = self._clock()
        if self._running + ahead >= self.allowed:
            return math.inf
        pause = self._paused_until - now
        if self.pace is not None:
            beyond = self._recent(now) + ahead - max(1, int(self.pace))
            if beyond >= 0:
                due = self._starts[beyond] if beyond < len(self._starts) else now
                pause = max(pause, due + MINUTE - now)
        return pause

    def _recent(self, now: float) -> int:
        while self._starts and self._starts[0] <= now - MINUTE:
            self._starts.popleft()
        return len(self._starts)

    async def _queue(self, meter: Meter) -> float:
        """Wait in the queue until a request may start; returns its start time."""
        turn, began = WaitingTurn(), None
        try:
            while began is None:
                await turn.wait(self._line_up(turn), meter)
                began = self._start(turn)
            return began
        except BaseException:
            with self._lock:
                self._waiting.pop(turn, None)
                self._call(1)  # the slot may have been meant for this request
            raise

    def _start(self, turn: WaitingTurn | None = None) -> float | None:
        """Start a request if allowed; without a turn, only if all waiters could start as well."""
        with self._lock:
            if self._delay(0 if turn else len(self._waiting)) > 0:
                return None
            began = self._clock()
            self._recent(began)  # drops old entries, so that memory does not grow with the run
            self._starts.append(began)
            self._running += 1
            if turn:
                self._waiting.pop(turn, None)
                self._call(1)  # the next waiter has to watch the clock from now on
            return began

    def _line_up(self, turn: WaitingTurn) -> float:
        """Join the queue, or stay in it; returns the seconds until the waiter should check by itself.

        Only the first one watches the clock. The others check rarely, in case the first is too busy to react.
        """
        with self._lock:
            self._waiting.setdefault(turn)
            delay = self._delay() if next(iter(self._waiting)) is turn else math.inf
        return TURN if delay == math.inf else max(0.0, min(delay, STEP))

    def _call(self, most: int) -> None:
        """Let the first waiters check whether they may start: no more than there are free slots.

        Waking all of them for one slot takes longer than the request. Those whose loops have closed are
        removed, and the next ones woken instead.
        """
        count = max(0, min(most, self.allowed - self._running))
        while gone := [t for t in islice(self._waiting, count) if not t.is_called and not t.call()]:
            for turn in gone:
                del self._waiting[turn]


class _Slot(AbstractAsyncContextManager[float]):
    """A class, because it takes half as long as a generator-based context manager."""

    __slots__ = ("_meter", "_throttle")

    def __init__(self, throttle: Throttle, meter: Meter) -> None:
        self._throttle = throttle
        self._meter = meter

    async def __aenter__(self) -> float:
        return await self._throttle.enter(self._meter)

    async def __aexit__(self, *error: object) -> None:
        self._throttle.leave()


class Throttles:
    """One throttle per model name, shared by all callers, from any thread; the limits given first apply."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._throttles = dict[str, Throttle]()

    def __call__(self, model: str, in_flight: int, per_minute: float | None) -> RateLimiter:
        known = self._throttles.get(model)
        # In one step, or two threads would each have their own.
        return known or self._throttles.setdefault(model, Throttle(in_flight, per_minute, self._clock))


T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_OBEYED = 120.0  # seconds; a server that asks for more counts as down


class Trouble(Exception):
    """A request failed in a way that may be temporary. `busy` means that the server refused it (429)."""

    def __init__(self, reason: str, busy: bool = False, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.busy = busy
        self.retry_after = retry_after


async def persist(
    send: Callable[[], Awaitable[T]], retries: int, rate_limiter: RateLimiter, meter: Meter
) -> T:
    """The result of `send`, retried after `Trouble`. Raises `Unavailable` when retries are used up.

    The pauses don't count against the agent: they are reported to the meter. A request that hangs is not
    retried, and its time is the agent's own.
    """
    for attempt in range(retries + 1):
        async with rate_limiter.slot(meter) as began:
            try:
                result = await send()
            except Trouble as trouble:
                pause = _pause(trouble, attempt)
                if trouble.busy:
                    rate_limiter.refused(began, pause)
                last = trouble
            else:
                rate_limiter.succeeded()
                return result
        if attempt < retries:
            await wait(pause, meter)
    tries = f"{retries + 1} tries" if retries else "one try"
    raise Unavailable(f"{last} (after {tries})")


def _pause(trouble: Trouble, attempt: int) -> float:
    if trouble.retry_after is not None:
        if trouble.retry_after > LONGEST_OBEYED:
            raise Unavailable(f"{trouble} (and not before {trouble.retry_after:,.0f} seconds have passed)")
        return trouble.retry_after
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds that a server asks to wait: given as seconds, as milliseconds, or as a date."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, date.timestamp() - now())
