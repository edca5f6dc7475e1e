"""Where tools are called, seen from whoever decides about the calls."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from misstep.core.finding import Reach
from misstep.core.tool import Described, Probe, Reaction


AHEAD = 64  # calls


class Workbench(Protocol):
    """Tools in a process of their own. What one call does to their state, the next one meets."""

    @property
    def tools(self) -> Sequence[Described]: ...

    def run(self, probes: Iterable[Probe]) -> Iterator[Reaction]:
        """Make the calls in order, and give what came of each as soon as it is known.

        No more than `AHEAD` are taken at a time, and only while no more than that are under way.
        After one that hung or died the rest goes on with everything as it was at the beginning.
        """
        ...

    def reset(self) -> None:
        """Put the tools' state and their files back to what they were when they had been loaded."""
        ...

    def reach(self, tool: str) -> Reach | None:
        """How much of the tool's own code has been run so far; None where it can't be seen."""
        ...
