"""Remembers what marked calls have shown, since only what is new leads to new ideas."""

from collections.abc import Sequence
from typing import TypeAlias

from misstep.core.tool import Observation, Path

_VARIANTS = 16  # operands of one test; what has more is compared with other arguments
_MOST = 4000
_OPERAND = 100  # characters that tell one from another
_PLACES = {str(place) for place in range(8)}  # that are told apart; more are taken for those of a loop
_PARTS = frozenset({"at", "slice", "partition", "rpartition", "url", "group"})

_Test: TypeAlias = tuple[Path, str, bool | None, tuple[str, ...]]


class Sights:
    """What the code of one tool was seen to do with its arguments."""

    def __init__(self) -> None:
        self._operands = dict[_Test, set[str]]()
        self._count = 0

    def are_new(self, observations: Sequence[Observation]) -> bool:
        """Whether there is one among them like none before."""
        return any([self._is_new(each) for each in observations])

    def _is_new(self, observation: Observation) -> bool:
        steps = tuple([_told(*step) for step in observation.via])
        test = (observation.path, observation.operation, observation.outcome, steps)
        operands = self._operands.setdefault(test, set())
        operand = observation.operand[:_OPERAND]
        if operand in operands or len(operands) >= _VARIANTS or self._count >= _MOST:
            return False
        operands.add(operand)
        self._count += 1
        return True


def _told(name: str, operands: str) -> str:
    """A step, and which part it took: the second of three may be tested as the first was."""
    if name not in _PARTS:
        return name
    first, *_, last = operands.strip("[]").split(", ") * 2
    part = first if name == "slice" else last
    is_place = part.isdigit() and part not in _PLACES
    return name if is_place else f"{name} {part}"
