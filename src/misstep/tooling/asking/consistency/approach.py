"""How sets of requests are made, then judged."""

import msgspec

from misstep.core.consistency import CHECKS, Check
from misstep.errors import UsageError
from misstep.tooling.asking.consistency.normalising import Normalise


class Approach(msgspec.Struct, frozen=True):
    """`checks` have a say, all others are left out. `variants` requests make a set, where there are so many.

    `context` is what is known beside a tool's documentation. With `normalise`, texts are compared by what it
    makes of them.
    """

    checks: tuple[Check, ...] = CHECKS
    variants: int = 5
    context: str = ""
    normalise: Normalise | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            raise UsageError("no check is left", f"known checks: {', '.join(CHECKS)}", where="--checks")
