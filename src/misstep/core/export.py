"""What is written for others to read: formats, and what is told of them."""

from typing import Literal, get_args

import msgspec

Training = Literal["sft", "dpo"]
Format = Literal["sft", "dpo", "inspect", "otlp", "csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
SynthFormat = Literal["cases", "sft"]
SYNTH_FORMATS: tuple[SynthFormat, ...] = get_args(SynthFormat)
LeftOut = Literal["errored", "inconclusive", "unsolved", "faultless", "stepwise"]


class Exported(msgspec.Struct, frozen=True):
    """What `misstep export --json` prints: how many examples, by kind of error, and what is not among them.

    `passed` are those of cases that passed. `unsolved` have no correct plan that is known; `faultless` are
    timeouts in which nothing went wrong but the time, and so nothing is there to be rejected; `stepwise` are
    those that can't be done in one shot.
    """

    run: str
    format: Training
    out: str
    examples: int
    kinds: dict[str, int]
    left_out: dict[LeftOut, int]


class Written(msgspec.Struct, frozen=True):
    """The same for a run as other tools read it; `rows` counts its cases, tasks or findings."""

    run: str
    format: Format
    out: str
    rows: int
