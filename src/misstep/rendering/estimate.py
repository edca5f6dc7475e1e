"""Shows the estimated cost of a run, and what a run has used of its budget."""

from rich.table import Table
from rich.text import Text

from misstep.core.event import Estimate
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Cost
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import money
from misstep.rendering.text import plain


def estimate_table(estimate: Estimate, settings: Settings) -> Table:
    table = bare_table(headed=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("agent", Text(plain(settings.agent)))
    if settings.model:
        table.add_row("model", Text(plain(settings.model)))
    table.add_row("cases", f"{estimate.cases:,}")
    table.add_row("calls", f"about {estimate.calls:,}")
    if estimate.known:
        table.add_row("tokens", f"about {estimate.tokens.input:,} in, {estimate.tokens.output:,} out")
        table.add_row("cost", ("about " if estimate.usd else "") + money(estimate.usd, settings.model))
        table.add_row("time", f"about {duration(estimate.seconds)}, {settings.jobs} cases at a time")
        table.add_row("based on", estimate.basis)
    else:
        table.add_row("tokens, cost, time", "unknown: no earlier run of this agent; try --count 3 first")
    if estimate.affordable < estimate.cases:
        table.add_row("budget", Text(f"lasts for about {estimate.affordable:,} of them", style="yellow"))
    return table


def estimate_line(estimate: Estimate) -> str:
    """The estimate in a few words; empty if the run uses no model, or nothing is known about it."""
    tokens = estimate.tokens.input + estimate.tokens.output
    if not (tokens and estimate.known):
        return ""
    cost = f", {money(estimate.usd, None)}" if estimate.usd is not None else ""
    return f"about {tokens:,} tokens{cost}, {duration(estimate.seconds)} (based on {estimate.basis})"


def duration(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def spending_in_words(used: Cost, budget: Budget) -> str:
    """What is limited, and the cost so far; empty for a run that uses no model and has no limits."""
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
