"""Simulated agents that know the solutions of tasks, to validate the benchmarks."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.results.benchmark import Solution

# Solves the task; does nothing; solves it and makes one unrequested change.
Manner: TypeAlias = Literal["right", "idle", "damage"]
MANNERS: tuple[Manner, ...] = ("right", "idle", "damage")


class Simulated:
    """An `Agent` that behaves in one manner. Unless it is idle it has to be given each solution."""

    def __init__(self, manner: Manner, solution: Solution | None = None) -> None:
        self.name = f"sim:{manner}"
        self._manner = manner
        self._solution = solution

    def knowing(self, solve: Callable[[], Solution]) -> "Simulated":
        """The same agent with the solution of a task, if it needs one."""
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
