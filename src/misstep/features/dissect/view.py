"""Shows root causes on the terminal and in the HTML page."""

from collections.abc import Sequence
from urllib.parse import urlencode

from rich.table import Table
from rich.text import Text

from misstep.core.results.diagnosis import CAUSES, Dissection
from misstep.rendering.html.markup import Markup, Row, element, grid, text
from misstep.rendering.html.sections import page_section
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import counted_column, percent, share, shares_table
from misstep.rendering.text import plain
from misstep.rendering.words import IN_FULL, agent_name


def causes_table(dissections: Sequence[Dissection]) -> Table:
    columns = [counted_column(each, each.causes) for each in dissections]
    return shares_table("cause", CAUSES, columns)


def diagnoses_table(dissection: Dissection, most: int) -> Table:
    table = bare_table()
    for heading in ("case", "cause"):
        table.add_column(heading, no_wrap=True)
    table.add_column("sure", justify="right", no_wrap=True)
    for heading in ("guilty", "evidence"):
        table.add_column(heading, overflow="fold")
    table.add_column("runs", justify="right", no_wrap=True)
    for diagnosis in dissection.failures[:most]:
        table.add_row(
            Text(plain(diagnosis.case, 100)),
            Text(diagnosis.cause, style="dim" if diagnosis.cause == "undetermined" else ""),
            diagnosis.sure or "–",
            Text(plain(diagnosis.guilty, 300)),
            Text(plain(diagnosis.evidence, 500)),
            str(diagnosis.agent_runs),
        )
    return table


DIAGNOSES = 50
NAME = 200  # characters of a case


def causes_section(dissections: Sequence[Dissection], linked: bool = False) -> Markup:
    """Root causes: the share of each, and the diagnosis of each failure, which may be `linked`."""
    rows = list[Row]()
    for each in dissections:
        shares = [percent(share(each.causes, cause)) for cause in CAUSES]
        rows.append(Row((agent_name(each, IN_FULL), f"{len(each.failures):,}", *shares)))
    return page_section(
        "Root causes",
        grid(("agent", "failures", *CAUSES), rows),
        *(_diagnoses(each, linked) for each in dissections if each.failures),
    )


def _diagnoses(dissection: Dissection, linked: bool) -> Markup:
    rows = list[Row]()
    for each in dissection.failures[:DIAGNOSES]:
        said = text(each.guilty, 300), text(each.evidence, 500), each.sure or "–", str(each.agent_runs)
        rows.append(Row((_case(each.case, linked), each.cause, *said)))
    headings = ("case", "cause", "guilty", "evidence", "sure", "runs")
    return grid(headings, rows, 4, f"method {dissection.method}")


def _case(case: str, linked: bool) -> Markup:
    name = element("code", text(case, 100))
    return element("a", name, href=f"#{urlencode({'case': plain(case, NAME)})}") if linked else name
