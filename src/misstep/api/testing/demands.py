"""What a test asks of an agent's success, and whether a run has met it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from misstep.core.statistics import wilson
from misstep.core.summary import Summary
from misstep.errors import UsageError
from misstep.report.terminal import baselines_in_words, percent


class Demand(msgspec.Struct, frozen=True):
    """The least share of cases that have to pass; those that can't be judged don't.

    If it is to be `significant`, a run falls short only if the whole 95 % interval does.
    """

    min_success: float = 1.0
    significant: bool = False

    def shortfall(self, summary: Summary) -> str:
        """How a run falls short, in words; empty where it does not."""
        asked, cases = self.min_success, summary.cases
        rate = summary.passed / cases if cases else 0.0
        reached = wilson(summary.passed, cases)[1] if self.significant else rate
        if reached >= asked:
            return ""
        unjudged = summary.inconclusive + summary.errored
        if unjudged and (summary.success is None or summary.success >= asked):
            return f"{unjudged} of {cases} cases could not be judged, where {percent(asked)} have to pass"
        head = f"success is {percent(summary.success)}, where {percent(asked)} is asked for"
        return f"{head}\n{self._reach(summary)}"

    def _reach(self, summary: Summary) -> str:
        low, high = summary.interval
        within = f"95 % interval {percent(low)} to {percent(high)}, chance level {percent(summary.chance)}"
        if summary.baselines:
            within += f", {baselines_in_words(summary.baselines)}"
        luck = "the interval reaches what is asked for: more cases would tell whether this was bad luck"
        return f"{within}\n{luck}" if high >= self.min_success else within


DEMANDS = Demand.__struct_fields__


def parse_demand(given: Mapping[str, Any], where: str) -> Demand:
    """The demand among keywords; a `UsageError` where it can't be met or is none."""
    own = {name: given[name] for name in DEMANDS if name in given}
    least = own.get("min_success", 1.0)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise UsageError(f"min_success = {least!r} won't do", "expected a number from 0 to 1", where=where)
    if not isinstance(own.get("significant", False), bool):
        raise UsageError(
            f"significant = {own['significant']!r} won't do", "expected True or False", where=where
        )
    return Demand(**own)
