"""A test observed in a tool's code (`Sight`), and a value proposed for what it tests (`Wish`)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from misstep.core.rng import Dice

LONGEST = 2_000  # characters

# The rank of a wish, most promising first.
PASSES = 0  # it passes a test that failed
BREAKS = 1  # it passes the test, and the code behind it probably can't handle it
EDGE = 2  # it is at a boundary, on either side
ODD = 3  # it is valid in an unusual way
FAR = 6  # it might be worth a try


class BranchGoal(NamedTuple):
    """A value for what the code tested. `late` is the number of operations on arguments before."""

    rank: int
    value: Any
    why: str
    late: int = 0


class Sight(NamedTuple):
    """An operation on a value, and the value at that time; MISSING if unknown."""

    operation: str
    operand: Any
    passed: bool | None
    now: Any
    dice: Dice
    matching: Callable[[str], str | None] | None

    @property
    def text(self) -> str:
        """The value as a text, truncated; a short word if it is not a text."""
        return self.now[:LONGEST] if isinstance(self.now, str) and self.now else "a"

    @property
    def items(self) -> list[Any]:
        return list(self.now) if isinstance(self.now, list) else []

    @property
    def properties(self) -> dict[str, Any]:
        return dict(self.now) if isinstance(self.now, dict) else {}

    @property
    def opens(self) -> int:
        """The rank of a value that passes: low if the test passed already."""
        return FAR if self.passed else PASSES
