"""Root causes as rich renderables."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from misstep.core.results.diagnosis import CAUSES, Diagnosis, Dissection
from misstep.rendering.layout import bare_table
from misstep.rendering.shares import counted_column, share, shares_table
from misstep.rendering.terminal import percent
from misstep.rendering.text import plain


def causes_table(dissections: Sequence[Dissection]) -> Table:
    """One column per agent: which share of its failures each cause has."""
    columns = [counted_column(each, each.causes) for each in dissections]
    return shares_table("cause", CAUSES, columns)


def cause_shares(dissection: Dissection) -> list[str]:
    """The share of each cause, in the order of `CAUSES`."""
    return [percent(share(dissection.causes, cause)) for cause in CAUSES]


def diagnoses_table(dissection: Dissection, most: int) -> Table:
    """One line per failure: its cause, how sure that is, and what speaks for it."""
    table = bare_table()
    for heading in ("case", "cause"):
        table.add_column(heading, no_wrap=True)
    table.add_column("sure", justify="right", no_wrap=True)
    for heading in ("guilty", "evidence"):
        table.add_column(heading, overflow="fold")
    table.add_column("runs", justify="right", no_wrap=True)
    for diagnosis in dissection.failures[:most]:
        table.add_row(*_row(diagnosis))
    return table


def _row(diagnosis: Diagnosis) -> tuple[Text | str, ...]:
    return (
        Text(plain(diagnosis.case, 100)),
        Text(diagnosis.cause, style="dim" if diagnosis.cause == "undetermined" else ""),
        diagnosis.sure or "–",
        Text(plain(diagnosis.guilty, 300)),
        Text(plain(diagnosis.evidence, 500)),
        str(diagnosis.agent_runs),
    )
