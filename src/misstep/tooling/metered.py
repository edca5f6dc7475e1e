"""A workbench that makes no more calls than it is granted."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from misstep.core.finding import Reach
from misstep.core.tool import Described, Probe, Reaction
from misstep.tooling.workbench import Workbench


class Grants(Protocol):
    """Says how many calls may be made."""

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        """How many of so many calls may be made now, nought if fewer than `least`; they count as made."""
        ...

    def give_back(self, calls: int) -> None:
        """Take back calls that were not made after all."""
        ...


class Metered:
    """Calls that belong together are made if all of them are granted, and none of them otherwise.

    `made` counts them. Once some were denied, `is_out`.
    """

    def __init__(self, bench: Workbench, grants: Grants | None) -> None:
        self._bench = bench
        self._grants = grants
        self.made = 0
        self.is_out = False

    @property
    def tools(self) -> Sequence[Described]:
        return self._bench.tools

    @property
    def files(self) -> Sequence[str]:
        return self._bench.files

    @property
    def starts_quickly(self) -> bool:
        return self._bench.starts_quickly

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        wanted = list(probes)
        if self._grants and not self._grants.reserve_calls(len(wanted), len(wanted)):
            self.is_out = True
            return
        before = self.made
        try:
            for reaction in self._bench.run(wanted, patience):
                self.made += 1
                yield reaction
        finally:
            if self._grants:
                self._grants.give_back(len(wanted) - (self.made - before))

    def reset(self) -> None:
        self._bench.reset()

    def reach(self, tool: str) -> Reach | None:
        return self._bench.reach(tool)
