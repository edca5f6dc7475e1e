"""What has been exported of a run."""

from typing import Literal

import msgspec

Format = Literal["sft", "dpo"]
LeftOut = Literal["errored", "inconclusive", "unsolved", "faultless"]


class Exported(msgspec.Struct, frozen=True):
    """What `misstep export --json` prints: how many examples, by kind of error, and what is not among them.

    `passed` are those of cases that passed. `unsolved` have no correct plan that is known; `faultless` are
    timeouts in which nothing went wrong but the time, and so nothing is there to be rejected.
    """

    run: str
    format: Format
    out: str
    examples: int
    kinds: dict[str, int]
    left_out: dict[LeftOut, int]
