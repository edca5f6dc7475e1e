"""Two runs side by side, as a rich renderable."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.comparison import Comparison, Pairing, TaskComparison
from misstep.report.layout import bare_table
from misstep.report.statistics import p_in_words, p_value, points
from misstep.report.terminal import percent
from misstep.report.text import plain


def comparison_view(comparison: Comparison | TaskComparison, first: str, second: str) -> RenderableType:
    """Who was compared, one against the other, rates with their difference, what follows from it; of tasks
    also what one took.

    `first` and `second` say what the two runs are of.
    """
    unit = "tasks" if isinstance(comparison, TaskComparison) else "cases"
    effort: list[RenderableType]
    effort = [_efforts(comparison), Text()] if isinstance(comparison, TaskComparison) else []
    return Group(
        _runs(comparison, first, second),
        Text(),
        _crossing(comparison.pairing, unit),
        Text(),
        *_rates(comparison, unit),
        Text(),
        *effort,
        Text(conclusion(comparison, unit), style="bold"),
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


def rates(comparison: Comparison | TaskComparison) -> tuple[str, list[tuple[str, ...]]]:
    """What rates are told by, with a row of texts for each value of it, and at last for all."""
    pairing = comparison.pairing
    everything = ("all", *_row(pairing, pairing.p))
    if isinstance(comparison, TaskComparison):
        kinds = [(plain(part.kind, 60), *_row(part.pairing, part.p)) for part in comparison.kinds]
        return "kind", [*kinds, everything]
    steps = [(str(step.actions), *_row(step.pairing, step.p)) for step in comparison.steps]
    return "actions", [*steps, everything]


def efforts(comparison: TaskComparison) -> list[tuple[str, str, str]]:
    """What one task took, in the first run and in the second."""
    one, other = comparison.effort
    return [
        ("calls", f"{one.calls:.1f}", f"{other.calls:.1f}"),
        ("tokens", f"{one.tokens:,.0f}", f"{other.tokens:,.0f}"),
        ("seconds", f"{one.seconds:.2f}", f"{other.seconds:.2f}"),
    ]


def note_on_p(what: str, count: int) -> str:
    """How the p values were made of rates by something that has so many values."""
    corrected = f"; by {what}, corrected for {count} of them (Holm)" if count else ""
    return f"p: exact McNemar test{corrected}"


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


def _rates(comparison: Comparison | TaskComparison, unit: str) -> list[RenderableType]:
    table = bare_table()
    what, rows = rates(comparison)
    for heading in (what, unit, "first", "second", "difference", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row, style="bold" if row is rows[-1] else "")
    parts = len(rows) - 1
    return [table, *([Text(note_on_p(what, parts), style="dim")] if parts else [])]


def _efforts(comparison: TaskComparison) -> Table:
    table = bare_table()
    for heading in ("to a task", "first", "second"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in efforts(comparison):
        table.add_row(*row)
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
