"""Changes one number into another."""

import math
from collections.abc import Callable
from typing import Any

from misstep.core.dice import Dice

_WIDEST = 10**40  # numbers far beyond whatever a tool counts in; longer ones can't all be read back
INTERESTING = (
    0,
    1,
    -1,
    2,
    3,
    10,
    16,
    64,
    100,
    127,
    128,
    255,
    256,
    1000,
    4096,
    65535,
    2**31,
    2**32,
    2**63,
    -(2**31),
)


def changed_number(number: int | float, dice: Dice) -> int | float:
    """Another number, near by or among those that programs trip over."""
    changed: int | float = dice.pick(_NUMBER_CHANGES)(number, dice)
    if isinstance(number, int) and isinstance(changed, float) and changed.is_integer():
        changed = int(changed)
    if isinstance(changed, float) and not math.isfinite(changed):
        return 1e308
    return max(-_WIDEST, min(_WIDEST, changed))


_NUMBER_CHANGES: tuple[Callable[[Any, Dice], Any], ...] = (
    lambda n, _: n + 1,
    lambda n, _: n - 1,
    lambda n, _: -n,
    lambda n, _: n * 2,
    lambda n, _: n // 2 if isinstance(n, int) else n / 2,
    lambda n, _: n * 10,
    lambda n, dice: n + dice.below(33) - 16,
    lambda _, dice: dice.pick(INTERESTING),
    lambda _, dice: dice.pick(INTERESTING) + dice.below(3) - 1,
    lambda n, dice: (-1) ** dice.below(2) * dice.below(1 << 4 * (1 + dice.below(12))) + n * 0,
    lambda n, dice: dice.below(100) if isinstance(n, int) else dice.below(1000) / 10,
)
