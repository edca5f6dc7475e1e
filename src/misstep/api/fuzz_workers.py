"""Fuzzes several targets at once, each in a thread with a tool host of its own."""

from collections.abc import Generator, Sequence
from typing import TypeAlias

from misstep.api.allowance import Allowance
from misstep.api.fuzz_worker import FuzzWorker, News
from misstep.api.targets import Target
from misstep.api.workers import Workers, stopping
from misstep.core.finding import ToolReport

Left: TypeAlias = tuple[Target, ToolReport | None]


class FuzzWorkers:
    """Works through targets, so many at a time.

    Whatever is found is told at once, unconfirmed; reports on the way say that they are of something stopped.
    """

    def __init__(self, examiner: FuzzWorker, allowance: Allowance, jobs: int) -> None:
        self._allowance = allowance
        self._workers = Workers[Left, News](lambda left, tell: examiner.examine(*left, tell), allowance, jobs)

    def work(self, targets: Sequence[Left]) -> Generator[News]:
        """What comes of it, as it comes; what goes wrong in an examination is raised here.

        Nobody is at work any more when it ends, however it does.
        Tools are fuzzed by themselves first: what they show alone is no news of them together.
        """
        alone = [left for left in targets if len(left[0].tools) == 1]
        together = [left for left in targets if len(left[0].tools) > 1]
        with stopping(self._allowance):
            yield from self._workers.work(alone)
            yield from self._workers.work(together)
