"""Divides the time of a run among its targets, so that it ends in time whatever each of them needs."""

import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from misstep.core.settings import ToolRunSettings
from misstep.fuzzing.examination import Deadlines

ALL_TOOLS = 600.0  # seconds for all targets, by default
OF_BUDGET = 0.95  # of what is left of --budget-time, so that the run ends before it is stopped
RESERVE = 0.15  # of them are kept for targets whose findings take long to confirm
MOST_KEPT = 0.5  # of what is left, when that is little
MOST_RESERVE = 0.5  # of what is left of the reserve, for targets that are worked on at the same time
FUZZING = 0.6  # of the usual time of a target
ENOUGH = 30.0  # seconds after fuzzing
CONTRACTS = 0.6  # of the time after fuzzing
WITH_CONTRACTS = 4.0  # time of a target with which contracts are tried, compared to others
TRIAGE = 0.25  # of a limit for each tool, added to confirm findings and minimise them
LEAST_TRIAGE = 30.0  # seconds


def shared_time(settings: ToolRunSettings, spent: float = 0.0) -> float | None:
    """The seconds that all targets share; None if each has its own limit instead.

    `spent` is how much of the budget an earlier session used.
    """
    if settings.time_per_tool is not None or settings.calls_per_tool is not None or settings.agent:
        return None
    if settings.budget_time is None:
        return ALL_TOOLS
    return min(ALL_TOOLS, OF_BUDGET * max(0.0, settings.budget_time - spent))


class TimeShare(msgspec.Struct, frozen=True):
    """The time of one target: seconds for fuzzing, and when its part ends, by the monotonic clock.

    Beyond that, findings may be confirmed until `last`. A target that shares with nobody has no such end: the
    rest is allowed when fuzzing ends.
    """

    fuzzing: float
    end: float | None = None
    last: float | None = None

    def is_over(self) -> bool:
        return self.last is not None and time.monotonic() >= self.last

    def after_fuzzing(self, with_contracts: bool) -> tuple[float, Deadlines]:
        """When trying contracts ends, and confirming and minimising."""
        now = time.monotonic()
        if self.end is None or self.last is None:
            triage = max(LEAST_TRIAGE, TRIAGE * self.fuzzing)
            contracts = now + triage if with_contracts else now
            return contracts, Deadlines(contracts + triage, contracts + triage)
        return now + CONTRACTS * max(0.0, self.end - now), Deadlines(self.last, self.end)


class TimeShares:
    """Gives each target a part of the time that is left, by its weight.

    What a target doesn't need is left for others. One whose findings take long to confirm may take more, from
    a reserve of which it gets only a part, so that there is always some. Several threads may use this.
    """

    def __init__(
        self, seconds: float, jobs: int, weights: Sequence[float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._jobs = jobs
        self._weight, self._targets = sum(weights), len(weights)
        self._until = clock() + seconds
        self._reserve = RESERVE * seconds * min(jobs, max(1, self._targets))
        self._ends = list[float]()  # of targets that are worked on
        self._lock = threading.Lock()

    def take(self, weight: float, most: float) -> TimeShare:
        """The share of the next target, which fuzzes for up to `most` seconds."""
        with self._lock:
            now, jobs = self._clock(), min(self._jobs, max(1, self._targets) + len(self._ends))
            free = max(0.0, (self._until - now) * jobs - sum(max(0.0, end - now) for end in self._ends))
            usual = (free - min(self._reserve, MOST_KEPT * free)) / max(self._weight, weight)
            self._weight, self._targets = self._weight - weight, self._targets - 1
            end = min(self._until, now + usual * weight)
            last = min(self._until, end + MOST_RESERVE * self._reserve / jobs)
            self._ends.append(end)
        return TimeShare(min(most, max(FUZZING * min(usual, end - now), end - now - ENOUGH)), end, last)

    def give_back(self, share: TimeShare) -> None:
        """A target is done; what it took beyond its part is missing in the reserve."""
        with self._lock:
            if share.end is not None:
                self._ends.remove(share.end)
                self._reserve = max(0.0, self._reserve - max(0.0, self._clock() - share.end))
