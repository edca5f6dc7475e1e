"""What a run is expected to come to before it starts."""

import msgspec

from misstep.core.spending import Cost
from misstep.core.transcript import Usage


class Estimate(msgspec.Struct, frozen=True):
    """What `--dry-run --json` prints. `usd` is null where nobody has said what the tokens cost.

    `basis` says what it rests on: an earlier run with the same agent, or a rule of thumb. `affordable` is how
    many of the cases the budget is likely to last for. Unless it is `known`, nothing is known of the agent's
    tokens and time, and the figures are an upper guess that only the budget goes by.
    """

    cases: int
    calls: int
    tokens: Usage
    usd: float | None
    seconds: float
    basis: str
    affordable: int
    known: bool = True

    @property
    def per_case(self) -> Cost:
        many = max(1, self.cases)
        tokens = self.tokens.input + self.tokens.output
        return Cost((self.usd or 0.0) / many, tokens / many, 0.0, self.calls / many)
