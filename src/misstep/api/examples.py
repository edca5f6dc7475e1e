"""Training examples out of synthesised cases.

Each case gives one conversation that goes right. Left out and counted are cases to which no correct plan is
known, and in the one-shot form those in which something has to be learnt from a result.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import msgspec

from misstep.adapters.paradigms.prompts import load_template
from misstep.api.suite_stats import SuiteSummary
from misstep.core.case import Case
from misstep.core.export import LeftOut, SynthFormat
from misstep.core.parts import PORTIONS, Portion
from misstep.core.settings import Settings
from misstep.planning.training.examples import Demonstration, demonstrate_case
from misstep.planning.training.solutions import is_foreseeable

_SAME_WORDS = ("tools", "responses", "assistant")  # agents whose instructions are those of `tools`


class ExamplesSummary(SuiteSummary, frozen=True):
    """What `plan synth --format sft --json` prints: the cases, how many examples there are, which not."""

    format: SynthFormat
    examples: int
    left_out: dict[LeftOut, int]


class CaseExamples:
    """Makes the examples of a suite one at a time, keeps none of them, and counts."""

    def __init__(self, settings: Settings, one_shot: bool = False) -> None:
        self._settings = settings
        self._one_shot = one_shot
        self._made = 0
        self._left_out = Counter[LeftOut]()

    def examples(self, cases: Iterable[Case]) -> Iterator[Demonstration]:
        instructions, part = instructions_of(self._settings), sorted_part(self._settings.part)
        for case in cases:
            example = demonstrate_case(case, instructions, part, self._one_shot)
            if example is None:
                self._left_out["stepwise" if self._one_shot and not is_foreseeable(case) else "unsolved"] += 1
            else:
                self._made += 1
                yield example

    def summary(self, suite: SuiteSummary) -> ExamplesSummary:
        """The counts so far, beside those of the cases."""
        return ExamplesSummary(
            **msgspec.structs.asdict(suite), format="sft", examples=self._made, left_out=dict(self._left_out)
        )


def instructions_of(settings: Settings) -> str:
    """The words that the `tools` agent puts before a request, the user's own where there are such."""
    own = settings.prompt if settings.agent in _SAME_WORDS else ""
    return load_template("tools", own, ()).fill()


def sorted_part(part: Collection[Portion]) -> tuple[Portion, ...]:
    """What cases were drawn from, in whatever order it was said."""
    return tuple([portion for portion in PORTIONS if portion in part])
