"""Tables of failures by kind or cause, with a column for each agent."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from misstep.core.outcome import ErrorKind
from misstep.rendering.layout import bare_table
from misstep.rendering.words import Named, agent_name

# In the order of the paper's tables.
KINDS: tuple[ErrorKind, ...] = ("timeout", "act", "lost", "order", "parameter")


class Column(msgspec.Struct, frozen=True):
    """One agent: the number of its failures, if known, and percentages of them."""

    heading: str
    shares: Mapping[str, float]
    total: int | None = None
    style: str = ""


def share(counts: Mapping[Any, int], name: str) -> float | None:
    total = sum(counts.values())
    return counts.get(name, 0) / total if total else None


def counted_column(one: Named, counts: Mapping[Any, int]) -> Column:
    parts = {name: share(counts, name) for name in counts}
    shares = {name: 100 * part for name, part in parts.items() if part is not None}
    return Column(agent_name(one), shares, sum(counts.values()))


def shares_table(what: str, rows: Sequence[str], columns: Sequence[Column]) -> Table:
    table = bare_table()
    table.add_column(what, no_wrap=True)
    for column in columns:
        table.add_column(Text(column.heading), justify="right", style=column.style, overflow="fold")
    for row in rows:
        table.add_row(row, *[_cell(column.shares, row) for column in columns])
    if any(column.total is not None for column in columns):
        totals = ["" if column.total is None else f"{column.total:,}" for column in columns]
        table.add_row(Text("failures", style="bold"), *totals)
    return table


def _cell(shares: Mapping[str, float], row: str) -> str:
    return f"{shares[row]:.1f} %" if row in shares else "–"
