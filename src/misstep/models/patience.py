"""Tries a request again where that may help, and says plainly where it does not."""

import email.utils
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from misstep.core.agent import Meter
from misstep.core.model import Unavailable
from misstep.core.rate_limiter import RateLimiter, wait

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_OBEYED = 120.0  # a server that wants more is as good as down


class Trouble(Exception):
    """A request failed in a way that may pass. `busy` means that the server has had too much of us (429)."""

    def __init__(self, reason: str, busy: bool = False, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.busy = busy
        self.retry_after = retry_after


class Patience:
    """How often to try, and within which limits on the whole model."""

    def __init__(self, retries: int, gate: RateLimiter) -> None:
        self._retries = retries
        self._gate = gate

    async def persist(self, send: Callable[[], Awaitable[T]], meter: Meter) -> T:
        """The result of `send`, tried again after `Trouble`. Raises `Unavailable` when it doesn't pass.

        The pauses are not the agent's: the meter is told of them. A request that hangs is not trouble but
        the agent's own time.
        """
        for attempt in range(self._retries + 1):
            async with self._gate.slot(meter) as began:
                try:
                    result = await send()
                except Trouble as trouble:
                    pause = _pause(trouble, attempt)
                    if trouble.busy:
                        self._gate.refused(began, pause)
                    last = trouble
                else:
                    self._gate.succeeded()
                    return result
            if attempt < self._retries:
                await wait(pause, meter)
        tries = f"{self._retries + 1} tries" if self._retries else "one try"
        raise Unavailable(f"{last} (after {tries})")


def _pause(trouble: Trouble, attempt: int) -> float:
    if trouble.retry_after is not None:
        if trouble.retry_after > LONGEST_OBEYED:
            raise Unavailable(f"{trouble} (and not before {trouble.retry_after:,.0f} seconds have passed)")
        return trouble.retry_after
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds that a server asks to wait: a number, a number of milliseconds, or a date."""
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
