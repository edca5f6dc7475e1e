"""The line of those who wait for a model, each on the event loop of its own thread."""

import asyncio
import threading
from collections import OrderedDict
from itertools import islice

from misstep.core.agent import Meter
from misstep.core.rate_limiter import wait


class Turn:
    """One who waits in line; `is_called` until it has come to look."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._woken = asyncio.Event()
        self.is_called = False

    async def wait(self, seconds: float, meter: Meter) -> None:
        """Wait to be called, no longer than that; a call that has come already counts."""
        await wait(seconds, meter, self._woken)
        self._woken.clear()
        self.is_called = False

    def call(self) -> bool:
        """Wake it up, from any thread; whether its loop is still there to do so."""
        self.is_called = True  # first: it may be awake before the next line is done
        try:
            if self._thread == threading.get_ident():
                self._woken.set()  # without the system call that it takes to reach another thread's loop
            else:
                self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:  # the loop is closed
            return False
        return True


class Turns:
    """Turns in the order in which they came. Whoever uses it sees to it that nobody else does meanwhile."""

    def __init__(self) -> None:
        self._turns = OrderedDict[Turn, None]()  # unlike a dict, it finds its first at once however many left

    def __len__(self) -> int:
        return len(self._turns)

    def is_first(self, turn: Turn) -> bool:
        return next(iter(self._turns), None) is turn

    def join(self, turn: Turn) -> None:
        """Go to the end of the line, or stay where one is."""
        self._turns[turn] = None

    def leave(self, turn: Turn) -> None:
        self._turns.pop(turn, None)

    def call(self, count: int) -> None:
        """Wake up so many of the first; those whose loops were closed without a word are passed over."""
        while gone := [t for t in islice(self._turns, count) if not t.is_called and not t.call()]:
            for turn in gone:
                del self._turns[turn]
