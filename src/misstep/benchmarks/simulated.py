"""Agents that know how tasks are done, to measure the benchmarks by."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.results.benchmark import Solution

# All that has to be done; nothing; all, and one thing more that nobody has asked for.
Manner: TypeAlias = Literal["right", "idle", "damage"]
MANNERS: tuple[Manner, ...] = ("right", "idle", "damage")


class Simulated:
    """Does tasks in one manner; it is an `Agent`. Unless it is idle it has to be told how each is done."""

    def __init__(self, manner: Manner, solution: Solution | None = None) -> None:
        self.name = f"sim:{manner}"
        self._manner = manner
        self._solution = solution

    def knowing(self, solve: Callable[[], Solution]) -> "Simulated":
        """One in the same manner who knows how a task is done, if that matters to it."""
        return self if self._manner == "idle" else Simulated(self._manner, solve())

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:  # noqa: ARG002
        solution = self._solution
        if solution is None:
            return Answer("Done.")
        for step in solution.steps:
            toolbox.call(step.tool, step.arguments)
        if self._manner == "damage":
            toolbox.call(solution.damage.tool, solution.damage.arguments)
        return Answer(solution.said or "Done.")
