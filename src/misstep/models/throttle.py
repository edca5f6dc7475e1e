"""Keeps requests to one model within what its server allows, and learns how much that is."""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice

from misstep.core.agent import Meter
from misstep.core.gate import TURN, Gate, wait

STEP = 0.5  # seconds after which a case looks again whether it may start sooner
MINUTE = 60.0
GROWTH = 1.1  # of the pace, for each breather without a refusal
BREATHER = 10.0
MARGIN = 0.8  # of the pace at which the server refused


class Throttle:
    """Bounds requests in flight and requests started per minute.

    A refusal (429) halves the requests in flight, makes everybody pause as long as the server says, and
    sets the pace below the one that was refused; success lets both grow back slowly. Requests that were
    under way already when the last refusal came don't count as another.
    """

    def __init__(
        self, in_flight: int, per_minute: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = in_flight
        self._allowed = float(in_flight)
        self._most_per_minute = per_minute
        self._pace = per_minute
        self._clock = clock
        self._running = 0
        self._starts = deque[float]()
        self._paused_until = 0.0
        self._refused_at = float("-inf")
        self._grown_at = 0.0
        self._waiting = OrderedDict[asyncio.Event, None]()

    @property
    def allowed(self) -> int:
        """Requests that may be in flight now."""
        return max(1, int(self._allowed))

    @property
    def pace(self) -> float | None:
        """Requests that may be started per minute, if there is a limit."""
        return self._pace

    @asynccontextmanager
    async def slot(self, meter: Meter) -> AsyncIterator[float]:
        """A place among the requests in flight, with its time of start; the meter is told of the wait."""
        await self._queue(meter)
        began = self._clock()
        self._running += 1
        self._starts.append(began)
        try:
            yield began
        finally:
            self._running -= 1
            self._wake()

    def refused(self, began: float, pause: float) -> None:
        """The server has had too much of a request that started at `began`."""
        now = self._clock()
        self._paused_until = max(self._paused_until, now + pause)
        if began < self._refused_at:
            return
        self._refused_at = now
        self._allowed = max(1.0, self._allowed / 2)
        refused = max(1.0, self._observed_pace(now) * MARGIN)
        self._pace = refused if self._pace is None else min(self._pace, refused)
        self._grown_at = now

    def succeeded(self) -> None:
        self._allowed = min(float(self._most), self._allowed + 1 / self._allowed)
        now = self._clock()
        if self._pace is not None and now - self._grown_at >= BREATHER:
            self._grown_at = now
            self._pace = min(self._pace * GROWTH + 1, self._most_per_minute or float("inf"))

    def _delay(self, ahead: int = 0) -> float:
        """Seconds until another request may start; there is no telling when all places are taken.

        So are those for the requests `ahead` in the queue.
        """
        now = self._clock()
        if self._running + ahead >= self.allowed:
            return math.inf
        pause = self._paused_until - now
        if self._pace is not None and self._recent(now) >= max(1, int(self._pace)):
            pause = max(pause, self._starts[0] + MINUTE - now)
        return pause

    def _recent(self, now: float) -> int:
        """Requests started within the last minute."""
        while self._starts and self._starts[0] <= now - MINUTE:
            self._starts.popleft()
        return len(self._starts)

    def _observed_pace(self, now: float) -> float:
        """Requests per minute, judged by the last minute or what there has been of it."""
        count = self._recent(now)
        return count * MINUTE / max(1.0, now - self._starts[0]) if count else 0.0

    async def _queue(self, meter: Meter) -> None:
        """Wait until a request may start; those who came first are woken first."""
        turn, ahead = asyncio.Event(), len(self._waiting)
        try:
            while (delay := self._delay(ahead)) > 0:
                ahead = 0
                turn.clear()
                self._waiting[turn] = None
                await wait(TURN if delay == math.inf else min(delay, STEP), meter, turn)
        except asyncio.CancelledError:
            del self._waiting[turn]
            self._wake()  # the place may have been ours
            raise
        self._waiting.pop(turn, None)

    def _wake(self) -> None:
        """Only as many as there are places: waking everybody for one place takes longer than the request."""
        for turn in islice(self._waiting, max(0, self.allowed - self._running)):
            turn.set()


class Throttles:
    """A throttle for each model by its name, so that all who ask one model share one.

    What is said first about its limits holds.
    """

    def __init__(self) -> None:
        self._throttles = dict[str, Throttle]()

    def __call__(self, model: str, in_flight: int, per_minute: float | None) -> Gate:
        if model not in self._throttles:
            self._throttles[model] = Throttle(in_flight, per_minute)
        return self._throttles[model]
