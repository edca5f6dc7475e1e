"""Keeps requests to a model within its limits, however many cases send them."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from misstep.core.agent import Meter

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
