"""What a run has used of its budget, in a few words."""

from misstep.core.spending import Budget, Cost
from misstep.report.estimate import duration
from misstep.report.terminal import money


def spending_in_words(used: Cost, budget: Budget) -> str:
    """What is limited, and what it has cost; empty for a run that uses no model and has no limits."""
    parts = []
    if budget.usd is not None or used.usd:
        parts.append(money(used.usd, None) + ("" if budget.usd is None else f" of {budget.usd:g}"))
    if budget.tokens is not None or used.tokens:
        parts.append(f"{used.tokens:,.0f}" + _of(budget.tokens) + " tokens")
    if budget.calls is not None:
        parts.append(f"{used.calls:,.0f}" + _of(budget.calls) + " calls")
    if budget.seconds is not None:
        parts.append(f"{duration(used.seconds)} of {duration(budget.seconds)}")
    return ", ".join(parts)


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {limit:,}"
