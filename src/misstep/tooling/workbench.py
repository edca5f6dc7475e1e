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

    @property
    def files(self) -> Sequence[str]:
        """Names of files and folders that tools find where they start, seen from there; not all if many."""
        ...

    @property
    def starts_quickly(self) -> bool:
        """Whether `reset` takes no longer than a few calls; a server has to be started again for it."""
        ...

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and give what came of each as soon as it is known.

        No more than `AHEAD` are taken at a time, and only while no more than that are under way. A call hangs
        when it takes `patience` times as long as one may. There are fewer reactions than probes if it was
        told to stop.
        After one that hung, died or took all memory the rest goes on with everything as it was at the
        beginning.
        """
        ...

    def reset(self) -> None:
        """Put the tools' state and their files back to what they were when they had been loaded."""
        ...

    def reach(self, tool: str) -> Reach | None:
        """How much of the tool's own code has been run so far; None where it can't be seen."""
        ...
