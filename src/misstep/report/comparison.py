"""Two runs side by side, as a rich renderable."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.comparison import Comparison, Pairing, TaskComparison
from misstep.report.layout import bare_table
from misstep.report.statistics import p_in_words, p_value, points
from misstep.report.terminal import percent
from misstep.report.text import plain


def comparison_view(comparison: Comparison, first: str, second: str) -> RenderableType:
    """Who was compared, case against case, rates with their difference, and what follows from it.

    `first` and `second` say what the two runs are of.
    """
    steps = [(str(step.actions), step.pairing, step.p) for step in comparison.steps]
    return Group(
        _runs(comparison, first, second),
        Text(),
        _crossing(comparison.pairing, "cases"),
        Text(),
        _rates(comparison, "actions", "cases", steps),
        *_corrected("actions", len(steps)),
        Text(),
        Text(conclusion(comparison), style="bold"),
    )


def task_comparison_view(comparison: TaskComparison, first: str, second: str) -> RenderableType:
    """The same for runs on a benchmark, with what a task took."""
    kinds = [(plain(part.kind, 60), part.pairing, part.p) for part in comparison.kinds]
    return Group(
        _runs(comparison, first, second),
        Text(),
        _crossing(comparison.pairing, "tasks"),
        Text(),
        _rates(comparison, "kind", "tasks", kinds),
        *_corrected("kind", len(kinds)),
        Text(),
        _efforts(comparison),
        Text(),
        Text(conclusion(comparison, "tasks"), style="bold"),
    )


def conclusion(comparison: Comparison | TaskComparison, unit: str = "cases") -> str:
    """Which of the two is better, if any is."""
    pairing = comparison.pairing
    low, high = pairing.interval
    if not pairing.first_only and not pairing.second_only:
        return f"no difference: the same of {pairing.cases} {unit} passed"
    if not comparison.significant:
        interval = f"95 % interval {points(low)} to {points(high)} points"
        return f"no difference that chance would not explain ({p_in_words(pairing.p)}, {interval})"
    better, low, high = ("second", low, high) if pairing.difference > 0 else ("first", -high, -low)
    by = f"{100 * abs(pairing.difference):.1f} points"
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f}"
    return f"the {better} is better by {by} ({interval}, {p_in_words(pairing.p)})"


def _corrected(what: str, count: int) -> list[Text]:
    if not count:
        return []
    note = f"p: exact McNemar test; by {what}, corrected for {count} of them (Holm)"
    return [Text(note, style="dim")]


def _runs(comparison: Comparison | TaskComparison, first: str, second: str) -> Table:
    table = bare_table(headed=False)
    table.add_column(style="bold")
    table.add_row("first", comparison.first, Text(plain(first)))
    table.add_row("second", comparison.second, Text(plain(second)))
    return table


def _crossing(pairing: Pairing, unit: str) -> Table:
    table = bare_table()
    table.add_column(f"{pairing.cases} {unit} in common", style="bold")
    for heading in ("second passed", "second failed"):
        table.add_column(heading, justify="right")
    table.add_row("first passed", str(pairing.both), str(pairing.first_only))
    table.add_row("first failed", str(pairing.second_only), str(pairing.neither))
    return table


def _rates(
    comparison: Comparison | TaskComparison,
    what: str,
    unit: str,
    parts: Sequence[tuple[str, Pairing, float]],
) -> Table:
    table = bare_table()
    for heading in (what, unit, "first", "second", "difference", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, pairing, p in parts:
        table.add_row(name, *_row(pairing, p))
    table.add_row("all", *_row(comparison.pairing, comparison.pairing.p), style="bold")
    return table


def _efforts(comparison: TaskComparison) -> Table:
    table = bare_table()
    for heading in ("to a task", "first", "second"):
        table.add_column(heading, justify="right", no_wrap=True)
    one, other = comparison.effort
    table.add_row("calls", f"{one.calls:.1f}", f"{other.calls:.1f}")
    table.add_row("tokens", f"{one.tokens:,.0f}", f"{other.tokens:,.0f}")
    table.add_row("seconds", f"{one.seconds:.2f}", f"{other.seconds:.2f}")
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
