"""How fast a run gets on, by what has happened lately."""

import time
from collections import deque
from collections.abc import Callable

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
