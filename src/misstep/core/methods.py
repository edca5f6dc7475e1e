"""Ways to find errors in tools, held against each other."""

from typing import Literal

import msgspec

from misstep.core.finding import Richness
from misstep.core.label import Rate

Method = Literal["whitebox", "greybox", "no-sanity", "consistency", "judge", "toolfuzz"]


class MethodResult(msgspec.Struct, frozen=True):
    """What one way has come to, over all tools.

    `calls` are those that the agent has made. `total` estimates how many errors the method could find. `fdr`
    is the share of labelled discoveries that people don't find erroneous; None where nobody has labelled any.
    `notes` are those of the run, each with the tool that it is about.
    """

    method: Method
    run: str
    unique_errors: int
    calls: int
    total: Richness | None
    fdr: Rate | None = None
    notes: tuple[str, ...] = ()

    @property
    def calls_per_error(self) -> float | None:
        return self.calls / self.unique_errors if self.unique_errors else None


class MethodComparison(msgspec.Struct, frozen=True):
    """Every method on the same tools, for errors at run time and for wrong answers.

    `fuzzer_calls` are those that fuzzing made beside the agent, by the run.
    """

    specs: tuple[str, ...]
    tools: int
    runtime: tuple[MethodResult, ...] = ()
    correctness: tuple[MethodResult, ...] = ()
    fuzzer_calls: dict[str, int] = {}
