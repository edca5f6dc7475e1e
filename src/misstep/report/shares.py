"""Failures by kind or cause: one column for each agent, one row for each share."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from misstep.core.verdict import ErrorKind
from misstep.report.text import plain

# In the order of the paper's tables.
KINDS: tuple[ErrorKind, ...] = ("timeout", "act", "lost", "order", "parameter")
NAME = 60  # of an agent with its model, in characters


class Column(msgspec.Struct, frozen=True):
    """What is known of one agent: how many failures, where that is known, and percentages of them."""

    heading: str
    shares: Mapping[str, float]
    total: int | None = None
    style: str = ""


def counted_column(agent: str, model: str | None, counts: Mapping[Any, int]) -> Column:
    total = sum(counts.values())
    shares = {name: 100 * number / total for name, number in counts.items()} if total else {}
    return Column(agent_name(agent, model), shares, total)


def agent_name(agent: str, model: str | None) -> str:
    return plain(f"{agent}, {model}" if model else agent, NAME)


def shares_table(what: str, rows: Sequence[str], columns: Sequence[Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
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
