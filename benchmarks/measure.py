"""Measured figures and their targets."""

import operator
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import msgspec

Sign = Literal["≥", "≤", "<"]

_HOLDS: dict[Sign, Callable[[float, float], bool]] = {"≥": operator.ge, "≤": operator.le, "<": operator.lt}


class Effort(msgspec.Struct, frozen=True):
    """How much work to measure: `repeats` batches, each `scale` times the usual size."""

    repeats: int = 15
    scale: float = 1.0

    def size(self, usual: int) -> int:
        return max(4, round(usual * self.scale))

    def times(self, usual: int) -> int:
        """How often to repeat a slow measurement, at least once."""
        return max(1, round(usual * self.scale))


class Mark(msgspec.Struct, frozen=True):
    sign: Sign
    value: float

    def __str__(self) -> str:
        return f"{self.sign} {self.value:,}"


class Row(msgspec.Struct, frozen=True):
    """One figure. A row without a mark is for information; one without a value could not be measured."""

    what: str
    value: float | None
    unit: str
    how: str
    mark: Mark | None = None

    @property
    def met(self) -> bool | None:
        if self.mark is None or self.value is None:
            return None
        return _HOLDS[self.mark.sign](self.value, self.mark.value)

    @property
    def unmeasured(self) -> bool:
        """Whether there is a mark but no value."""
        return self.mark is not None and self.value is None

    def cells(self) -> list[str]:
        met = {True: "yes", False: "NO", None: ""}[self.met]
        mark = f"{self.mark} {self.unit}".rstrip() if self.mark else ""
        value = "not measured" if self.value is None else f"{_digits(self.value)} {self.unit}".rstrip()
        return [self.what, value, mark, met]


def best_cpu(repeats: int, *jobs: Callable[[int], object]) -> list[float]:
    """The minimum CPU seconds of each job over all batches; the jobs take turns, so that noise affects all.

    A job is called with the number of its batch.
    """
    return best_seconds(repeats, *[partial(cpu_seconds, job) for job in jobs])


def best_seconds(repeats: int, *clocks: Callable[[int], float]) -> list[float]:
    """Like `best_cpu`, for jobs that measure their own time and return the seconds of a batch."""
    batches = [[clock(batch) for clock in clocks] for batch in range(repeats)]
    return [min(taken) for taken in zip(*batches, strict=True)]


def cpu_seconds(job: Callable[[int], object], batch: int) -> float:
    began = time.process_time()
    job(batch)
    return time.process_time() - began


def as_text(rows: Sequence[Row]) -> str:
    """The rows as a table for the terminal."""
    table = [["what", "measured", "mark", "met"], *[row.cells() for row in rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def as_markdown(rows: Sequence[Row]) -> str:
    table = [[*row.cells(), row.how] for row in rows]
    head = ["| what | measured | mark | met | how measured |", "|---|--:|--:|:-:|---|"]
    return "\n".join([*head, *[f"| {' | '.join(cells)} |" for cells in table]])


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
