"""What a run uses (tokens, calls, time), its budget, rate limits of models, and its recent speed."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

import msgspec

from misstep.core.agent import Meter
from misstep.core.outcome import Usage

AGENT = "agent"  # the role of the agent's own model; others judge and generate


def tokens_of(usage: Mapping[str, Usage]) -> int:
    """The tokens of all roles together."""
    return sum(each.input + each.output for each in usage.values())


class Spent(msgspec.Struct, frozen=True):
    """Tokens by the role of the model that used them, tool calls, and seconds at work."""

    usage: Mapping[str, Usage] = {}
    calls: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return tokens_of(self.usage)

    def __add__(self, other: "Spent") -> "Spent":
        roles = {**self.usage, **other.usage}
        usage = {role: self.usage.get(role, Usage()) + other.usage.get(role, Usage()) for role in roles}
        return Spent(usage, self.calls + other.calls, self.seconds + other.seconds)


class Cost(msgspec.Struct, frozen=True):
    """An amount of each resource that can be limited."""

    usd: float = 0.0
    tokens: float = 0
    seconds: float = 0.0
    calls: float = 0


class Budget(msgspec.Struct, frozen=True):
    """The most that a run may use; None means no limit."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    calls: int | None = None

    def __bool__(self) -> bool:
        return any([getattr(self, kind) is not None for kind in self.__struct_fields__])


class Account(Protocol):
    """Is told what a case uses while it runs; called from any thread."""

    def spend(self, role: str, usage: Usage) -> None: ...

    def call(self) -> None:
        """Count one tool call."""


class UsageCounter:
    """An account that adds up what it is told, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.spent = Spent()

    def spend(self, role: str, usage: Usage) -> None:
        self.add(Spent({role: usage}))

    def call(self) -> None:
        self.add(Spent(calls=1))

    def add(self, more: Spent) -> None:
        with self._lock:
            self.spent += more


class Nobody:
    """An account that counts nothing."""

    def spend(self, role: str, usage: Usage) -> None:
        pass

    def call(self) -> None:
        pass


UNCOUNTED = Nobody()


TURN = 10.0  # seconds by which the deadline of a waiting case is extended at a time


class RateLimiter(Protocol):
    """Limits requests to one model for all its callers, and adapts to the server's refusals."""

    def slot(self, meter: Meter) -> AbstractAsyncContextManager[float]:
        """A slot for a request, with its start time; the time spent waiting is reported to the meter."""

    def refused(self, began: float, pause: float) -> None:
        """The server refused a request that started at `began`, and asks for a pause."""

    def succeeded(self) -> None: ...


# Creates a limiter from the model's name, the concurrent requests and, if limited, requests per minute.
RateLimiters: TypeAlias = Callable[[str, int, float | None], RateLimiter]


async def wait(seconds: float, meter: Meter, until: asyncio.Event | None = None) -> None:
    """Wait on behalf of a case: its time limit is extended by the time waited."""
    began = time.monotonic()
    meter.wait(seconds)
    try:
        if until is None:
            await asyncio.sleep(seconds)
        else:
            async with asyncio.timeout(seconds):
                await until.wait()
    except TimeoutError:
        pass
    finally:
        meter.wait(min(0.0, time.monotonic() - began - seconds))


WINDOW = 30.0  # seconds over which the rate is measured
APART = 0.25  # minimum seconds between two measurements
ENOUGH = 2.0  # seconds before there is a rate


class Pace:
    """Measures the recent rate of progress; `done` is the amount that was done at the start."""

    def __init__(self, done: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._marks = deque([(clock(), float(done))])
        self._done = float(done)

    def reach(self, done: float) -> None:
        self._done = done = max(self._done, done)  # never goes down: reserved calls may be returned
        now = self.clock()
        if now - self._marks[-1][0] >= APART:
            self._marks.append((now, done))
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW:
            self._marks.popleft()

    @property
    def rate(self) -> float | None:
        """Amount per second; None while there is too little data."""
        since, before = self._marks[0]
        elapsed = self.clock() - since
        return (self._done - before) / elapsed if elapsed >= ENOUGH else None

    def left(self, total: float) -> float | None:
        """Seconds until `total` is reached at the current rate."""
        rate = self.rate
        return (total - self._done) / rate if rate else None
