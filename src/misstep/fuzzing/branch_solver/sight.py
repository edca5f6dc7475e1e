"""A gate as it was seen, and a wish for what to send through it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from misstep.core.rng import Dice

LONGEST = 2_000  # characters

# How promising a wish is.
PASSES = 0  # it gets past a gate that was closed
BREAKS = 1  # it gets past, or got past, and has nothing good behind it
EDGE = 2  # it stands just at the edge, on either side
ODD = 3  # it is right in a way that few think of
FAR = 6  # it might be worth a try


class BranchGoal(NamedTuple):
    """A value for what the code saw. `late` is how many other things it had done with its arguments."""

    rank: int
    value: Any
    why: str
    late: int = 0


class Sight(NamedTuple):
    """What the code did with a value, and the value that it had then; MISSING where that isn't known."""

    operation: str
    operand: Any
    passed: bool | None
    now: Any
    dice: Dice
    matching: Callable[[str], str | None] | None

    @property
    def text(self) -> str:
        """The value as a text, cut to what is worth repeating; a short word where it is none."""
        return self.now[:LONGEST] if isinstance(self.now, str) and self.now else "a"

    @property
    def items(self) -> list[Any]:
        return list(self.now) if isinstance(self.now, list) else []

    @property
    def properties(self) -> dict[str, Any]:
        return dict(self.now) if isinstance(self.now, dict) else {}

    @property
    def opens(self) -> int:
        """The rank of what passes: of little use where it was passed already."""
        return FAR if self.passed else PASSES
