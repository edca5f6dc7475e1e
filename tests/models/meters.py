"""A meter for tests, which remembers what it is told."""

from misstep.core.outcome import Usage


class Counter:
    def __init__(self) -> None:
        self.spent = list[Usage]()
        self.waited = 0.0
        self.waits = list[float]()

    def spend(self, usage: Usage) -> None:
        self.spent.append(usage)

    def wait(self, seconds: float) -> None:
        self.waited += seconds
        self.waits.append(seconds)

    @property
    def total(self) -> Usage:
        return sum(self.spent, Usage())
