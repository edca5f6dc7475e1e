"""What an action reports that a condition asks."""

from functools import cache

from misstep.core.constraint import Condition
from misstep.planning.language.lexicon import load_lexicon

NOTHING = "nothing of the kind"


def reported(condition: Condition, found: bool) -> str:
    """The finding in words, or its absence."""
    return condition.finding if found else _absences().get(condition.finding, NOTHING)


@cache
def _absences() -> dict[str, str]:
    return {finding.some: finding.none for finding in load_lexicon().conditions.all_findings}
