"""Parts that reports on tools share, as JSON."""

from collections.abc import Mapping

from misstep.core.finding import Richness
from misstep.core.transcript import Usage


def tokens_as_json(usage: Mapping[str, Usage]) -> dict[str, object]:
    """The tokens that each role has used."""
    return {role: {"input": each.input, "output": each.output} for role, each in usage.items()}


def richness_as_json(richness: Richness | None) -> dict[str, float] | None:
    if richness is None:
        return None
    return {"estimate": richness.estimate, "low": richness.low, "high": richness.high}
