"""What a run uses up, and how much of it is allowed.

Keeps requests to a model within its limits, however many cases send them.

How fast a run gets on, by what has happened lately.
"""

import asyncio
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
    """An amount of everything that can be limited."""

    usd: float = 0.0
    tokens: float = 0
    seconds: float = 0.0
    calls: float = 0


class Budget(msgspec.Struct, frozen=True):
    """The most that a run may use up; None where there is no limit."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    calls: int | None = None

    def __bool__(self) -> bool:
        return any([getattr(self, kind) is not None for kind in self.__struct_fields__])


class Account(Protocol):
    """Told what a case uses up while it does, from any thread."""

    def spend(self, role: str, usage: Usage) -> None: ...

    def call(self) -> None:
        """Count one tool call."""
        ...


class Nobody:
    """An account that nobody keeps."""

    def spend(self, role: str, usage: Usage) -> None:
        pass

    def call(self) -> None:
        pass


UNCOUNTED = Nobody()


TURN = 10.0  # seconds for which a case that waits to be called is put off at a time


class RateLimiter(Protocol):
    """Stands before one model, for all who ask it, and learns from its server's refusals."""

    def slot(self, meter: Meter) -> AbstractAsyncContextManager[float]:
        """A place among the requests in flight, with its time of start; the meter is told of the wait."""
        ...

    def refused(self, began: float, pause: float) -> None:
        """The server has had too much of a request that started at `began`, and wants a pause."""
        ...

    def succeeded(self) -> None: ...


# By the name of a model, with the most requests in flight and the most per minute if there is such a limit.
RateLimiters: TypeAlias = Callable[[str, int, float | None], RateLimiter]


async def wait(seconds: float, meter: Meter, until: asyncio.Event | None = None) -> None:
    """Wait on the case's behalf: its time limit is put off by as long as it takes."""
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


WINDOW = 30.0  # seconds that count as lately
APART = 0.25  # seconds between two marks
ENOUGH = 2.0  # seconds before which a rate says nothing


class Pace:
    """Is told what has been done so far whenever that changes; `done` is what there was at the start."""

    def __init__(self, done: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._marks = deque([(clock(), float(done))])
        self._done = float(done)

    def reach(self, done: float) -> None:
        self._done = done = max(self._done, done)  # calls that were reserved may be given back
        now = self.clock()
        if now - self._marks[-1][0] >= APART:
            self._marks.append((now, done))
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW:
            self._marks.popleft()

    @property
    def rate(self) -> float | None:
        """So many a second; None while too little is known."""
        since, before = self._marks[0]
        elapsed = self.clock() - since
        return (self._done - before) / elapsed if elapsed >= ENOUGH else None

    def left(self, total: float) -> float | None:
        """Seconds until there are so many, if it goes on like this."""
        rate = self.rate
        return (total - self._done) / rate if rate else None
