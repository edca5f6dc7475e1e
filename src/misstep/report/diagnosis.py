"""Root causes as rich renderables."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from misstep.core.diagnosis import CAUSES, Diagnosis, Dissection
from misstep.report.shares import counted_column, shares_table
from misstep.report.terminal import percent
from misstep.report.text import plain


def causes_table(dissections: Sequence[Dissection]) -> Table:
    """One column per agent: which share of its failures each cause has."""
    columns = [counted_column(each.agent, each.model, each.causes) for each in dissections]
    return shares_table("cause", CAUSES, columns)


def cause_shares(dissection: Dissection) -> list[str]:
    """The share of each cause, in the order of `CAUSES`."""
    total = sum(dissection.causes.values())
    return [percent(dissection.causes.get(cause, 0) / total if total else None) for cause in CAUSES]


def diagnoses_table(dissection: Dissection, most: int) -> Table:
    """One line per failure: its cause, how sure that is, and what speaks for it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
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
    confidence = diagnosis.confidence
    return (
        Text(plain(diagnosis.case, 100)),
        Text(diagnosis.cause, style="dim" if diagnosis.cause == "undetermined" else ""),
        "–" if confidence is None else f"{100 * confidence:.0f} %",
        Text(plain(diagnosis.guilty, 300)),
        Text(plain(diagnosis.evidence, 500)),
        str(diagnosis.agent_runs),
    )
