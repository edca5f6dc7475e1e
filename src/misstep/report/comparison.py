"""Two runs side by side, as a rich renderable."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.comparison import Comparison, Pairing
from misstep.report.layout import bare_table
from misstep.report.statistics import p_in_words, p_value, points
from misstep.report.terminal import percent
from misstep.report.text import plain


def comparison_view(comparison: Comparison, first: str, second: str) -> RenderableType:
    """Who was compared, case against case, rates with their difference, and what follows from it.

    `first` and `second` say what the two runs are of.
    """
    parts: list[RenderableType] = [
        _runs(comparison, first, second),
        Text(),
        _crossing(comparison.pairing),
        Text(),
        _rates(comparison),
    ]
    if comparison.steps:
        note = f"p: exact McNemar test; by actions, corrected for {len(comparison.steps)} of them (Holm)"
        parts.append(Text(note, style="dim"))
    return Group(*parts, Text(), Text(conclusion(comparison), style="bold"))


def conclusion(comparison: Comparison) -> str:
    """Which of the two is better, if any is."""
    pairing = comparison.pairing
    low, high = pairing.interval
    if not pairing.first_only and not pairing.second_only:
        return f"no difference: the same of {pairing.cases} cases passed"
    if not comparison.significant:
        interval = f"95 % interval {points(low)} to {points(high)} points"
        return f"no difference that chance would not explain ({p_in_words(pairing.p)}, {interval})"
    better, low, high = ("second", low, high) if pairing.difference > 0 else ("first", -high, -low)
    by = f"{100 * abs(pairing.difference):.1f} points"
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f}"
    return f"the {better} is better by {by} ({interval}, {p_in_words(pairing.p)})"


def _runs(comparison: Comparison, first: str, second: str) -> Table:
    table = bare_table(headed=False)
    table.add_column(style="bold")
    table.add_row("first", comparison.first, Text(plain(first)))
    table.add_row("second", comparison.second, Text(plain(second)))
    return table


def _crossing(pairing: Pairing) -> Table:
    table = bare_table()
    table.add_column(f"{pairing.cases} cases in common", style="bold")
    for heading in ("second passed", "second failed"):
        table.add_column(heading, justify="right")
    table.add_row("first passed", str(pairing.both), str(pairing.first_only))
    table.add_row("first failed", str(pairing.second_only), str(pairing.neither))
    return table


def _rates(comparison: Comparison) -> Table:
    table = bare_table()
    for heading in ("actions", "cases", "first", "second", "difference", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for step in comparison.steps:
        table.add_row(str(step.actions), *_row(step.pairing, step.p))
    table.add_row("all", *_row(comparison.pairing, comparison.pairing.p), style="bold")
    return table


def _row(pairing: Pairing, p: float) -> tuple[str, ...]:
    low, high = pairing.interval
    return (
        str(pairing.cases),
        percent((pairing.both + pairing.first_only) / pairing.cases),
        percent((pairing.both + pairing.second_only) / pairing.cases),
        points(pairing.difference),
        f"{points(low)} to {points(high)}",
        p_value(p),
    )
