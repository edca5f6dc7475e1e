"""Shows the comparison of two runs, of a run with its baseline, and the breakdown of a run."""

from collections.abc import Sequence

from msgspec import to_builtins
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.results.comparison import Breakdown, Comparison, Facet, Held, Pairing, TaskComparison
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import counted, from_to, percent
from misstep.rendering.text import plain
from misstep.rendering.words import listed, p_in_words, p_value, points

MOST = 5  # findings that are named


def baseline_sentence(held: Held) -> str:
    """The comparison with the baseline in one sentence; the only foreign text is names of tools."""
    if not held.baseline:
        return "there is no earlier run to compare with"
    if held.pairing is None:
        verb = "occurs" if len(held.gone) == 1 else "occur"
        rest = f"; {counted(len(held.gone), 'finding')} no longer {verb}" if held.gone else ""
        if not held.new:
            return f"no findings beyond baseline {held.baseline}{rest}"
        named = [f"{each.kind} {plain(each.error, 60)} in {plain(each.tool, 60)}" for each in held.new]
        found = f"{counted(len(held.new), 'finding')} not in baseline {held.baseline}"
        return f"{found} ({listed(named, MOST)}){rest}"
    return _pairing(held, held.pairing)


def held_as_json(held: Held) -> dict[str, object]:
    """The comparison with the baseline in the object that `--json` prints."""
    compared: dict[str, object] = {"new": to_builtins(held.new), "gone": to_builtins(held.gone)}
    if pairing := held.pairing:
        compared = {
            "in_common": pairing.cases,
            "difference": pairing.difference,
            "interval": list(pairing.interval),
            "p": pairing.p,
            "lost": list(held.lost),
            "won": list(held.won),
        }
    return {
        "run": held.baseline or None,
        "regressed": held.regressed,
        "conclusion": baseline_sentence(held),
        **(compared if held.baseline else {}),
    }


def _pairing(held: Held, pairing: Pairing) -> str:
    changes = f"{len(held.lost)} lost, {len(held.won)} won of {counted(pairing.cases, held.unit)} in common"
    if not held.lost and not held.won:
        return f"the same as baseline {held.baseline}: {changes}"
    if not held.significant:
        return f"no significant difference from baseline {held.baseline}: {changes}, {p_in_words(pairing.p)}"
    (low, high), better = pairing.interval, pairing.difference > 0
    low, high = (low, high) if better else (-high, -low)
    by = f"{100 * abs(pairing.difference):.1f} points (95 % interval {100 * low:.1f} to {100 * high:.1f})"
    word = "better" if better else "worse"
    return f"{word} than baseline {held.baseline} by {by}: {changes}, {p_in_words(pairing.p)}"


def comparison_view(comparison: Comparison | TaskComparison, first: str, second: str) -> RenderableType:
    """What the two runs tested, their rates and the conclusion; for tasks also the cost of one."""
    unit = "tasks" if isinstance(comparison, TaskComparison) else "cases"
    pairing = comparison.pairing
    runs = bare_table(headed=False)
    runs.add_column(style="bold")
    runs.add_row("first", comparison.first, Text(plain(first)))
    runs.add_row("second", comparison.second, Text(plain(second)))
    crossing = bare_table()
    crossing.add_column(f"{pairing.cases} {unit} in common", style="bold")
    for heading in ("second passed", "second failed"):
        crossing.add_column(heading, justify="right")
    crossing.add_row("first passed", str(pairing.both), str(pairing.first_only))
    crossing.add_row("first failed", str(pairing.second_only), str(pairing.neither))
    effort: list[RenderableType] = []
    if isinstance(comparison, TaskComparison):
        effort = [_numbers(("to a task", "first", "second"), efforts(comparison)), Text()]
    what, rows = rates(comparison)
    table = _numbers((what, unit, "first", "second", "difference", "95 % interval", "p"), rows[:-1])
    table.add_row(*rows[-1], style="bold")
    parts = len(rows) - 1
    note = [Text(note_on_p(what, parts), style="dim")] if parts else []
    end = Text(conclusion(comparison, unit), style="bold")
    return Group(runs, Text(), crossing, Text(), table, *note, Text(), *effort, end)


def _numbers(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = bare_table()
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def conclusion(
    comparison: Comparison | TaskComparison,
    unit: str = "cases",
    names: tuple[str, str] = ("the first", "the second"),
) -> str:
    """Which of the two runs is better, if one is; `names` are what they are called."""
    pairing = comparison.pairing
    low, high = pairing.interval
    if not pairing.first_only and not pairing.second_only:
        return f"no difference: the same of {pairing.cases} {unit} passed"
    if not comparison.significant:
        interval = f"95 % interval {points(low)} to {points(high)} points"
        return f"no significant difference ({p_in_words(pairing.p)}, {interval})"
    better, low, high = (names[1], low, high) if pairing.difference > 0 else (names[0], -high, -low)
    by = f"{100 * abs(pairing.difference):.1f} points"
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f}"
    return f"{better} is better by {by} ({interval}, {p_in_words(pairing.p)})"


def rates(comparison: Comparison | TaskComparison) -> tuple[str, list[tuple[str, ...]]]:
    """The name of the facet, with a row of cells for each of its values and a last one for the total."""
    pairing = comparison.pairing
    everything = ("all", *_row(pairing, pairing.p))
    if isinstance(comparison, TaskComparison):
        kinds = [(plain(part.kind, 60), *_row(part.pairing, part.p)) for part in comparison.kinds]
        return "kind", [*kinds, everything]
    steps = [(str(step.actions), *_row(step.pairing, step.p)) for step in comparison.steps]
    return "actions", [*steps, everything]


def efforts(comparison: TaskComparison) -> list[tuple[str, str, str]]:
    one, other = comparison.effort
    return [
        ("calls", f"{one.calls:.1f}", f"{other.calls:.1f}"),
        ("tokens", f"{one.tokens:,.0f}", f"{other.tokens:,.0f}"),
        ("seconds", f"{one.seconds:.2f}", f"{other.seconds:.2f}"),
    ]


def note_on_p(what: str, count: int) -> str:
    """How the p values were computed for a facet with this many values."""
    corrected = f"; by {what}, corrected for {count} of them (Holm)" if count else ""
    return f"p: exact McNemar test{corrected}"


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


PLURALS: dict[Facet, str] = {"topic": "topics", "actions": "numbers of actions", "family": "families"}
NAMED = 5  # of those that stand out


def breakdown_view(breakdown: Breakdown, most: int | None = None) -> RenderableType:
    """The first portions, at most `most` if given, and the conclusion from all of them."""
    shown = breakdown.portions[:most]
    table = bare_table()
    table.add_column(breakdown.by, overflow="fold")
    for heading in ("cases", "failed", "success", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for portion in shown:
        table.add_row(
            Text(plain(portion.value, 200)),
            str(portion.cases),
            str(portion.failed),
            percent(portion.success),
            from_to(portion.interval),
            p_value(portion.p),
            style="red" if portion.significant else "",
        )
    hidden = len(breakdown.portions) - len(shown)
    more = [Text(f"… and {hidden} more", style="dim")] if hidden else []
    return Group(table, *more, Text(), Text(finding(breakdown)))


def finding(breakdown: Breakdown) -> str:
    """Which values fail more often than the others, if any do."""
    count = len(breakdown.portions)
    if count < 2:
        return "nothing to compare: " + ("no case was judged" if not count else "all cases are alike")
    compared = f"{count} {PLURALS[breakdown.by]} were compared: p is corrected for that (Holm)"
    standing_out = [plain(portion.value, 100) for portion in breakdown.portions if portion.significant]
    if not standing_out:
        return f"{compared}; none fails significantly more than the others"
    verb = "fails" if len(standing_out) == 1 else "fail"
    return f"{compared}; {listed(standing_out, NAMED)} {verb} significantly more than the others"
