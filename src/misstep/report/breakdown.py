"""A run by one facet of its cases, as a rich renderable."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.breakdown import Breakdown, Facet
from misstep.report.layout import bare_table
from misstep.report.statistics import listed, p_value
from misstep.report.terminal import percent
from misstep.report.text import plain

PLURALS: dict[Facet, str] = {"topic": "topics", "actions": "numbers of actions", "family": "families"}
NAMED = 5  # of those that stand out


def breakdown_view(breakdown: Breakdown, most: int | None = None) -> RenderableType:
    """The first portions, `most` of them if that is said, and what follows from all of them."""
    shown = breakdown.portions[:most]
    parts: list[RenderableType] = [breakdown_table(breakdown, most)]
    if len(shown) < len(breakdown.portions):
        parts.append(Text(f"… and {len(breakdown.portions) - len(shown)} more", style="dim"))
    return Group(*parts, Text(), Text(finding(breakdown)))


def breakdown_table(breakdown: Breakdown, most: int | None = None) -> Table:
    table = bare_table()
    table.add_column(breakdown.by, overflow="fold")
    for heading in ("cases", "failed", "success", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for portion in breakdown.portions[:most]:
        low, high = portion.interval
        table.add_row(
            Text(plain(portion.value, 200)),
            str(portion.cases),
            str(portion.failed),
            percent(portion.success),
            f"{percent(low)} to {percent(high)}",
            p_value(portion.p),
            style="red" if portion.significant else "",
        )
    return table


def finding(breakdown: Breakdown) -> str:
    """Which of them fail more than the others, if any do."""
    count = len(breakdown.portions)
    if count < 2:
        return "there is nothing to compare: " + (
            "no case was judged" if not count else "all cases are alike"
        )
    compared = f"{count} {PLURALS[breakdown.by]} were compared: p is corrected for that (Holm)"
    standing_out = [plain(portion.value, 100) for portion in breakdown.portions if portion.significant]
    if not standing_out:
        return f"{compared}; none fails more than the others beyond chance"
    verb = "fails" if len(standing_out) == 1 else "fail"
    return f"{compared}; {listed(standing_out, NAMED)} {verb} more than the others beyond chance"
