"""The tables of the store, the same in every database, with column types that check values on reading.

SQLite stores any value in any column, so each value is checked before it is used.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

LARGEST = 10**18  # for counts and sums
LATEST = 2.5e11  # seconds; calendars don't go further


class OddValue(ValueError):
    """A value that misstep never writes to this column; the message says what it is."""


def odd(value: object, expected: str) -> OddValue:
    text = repr(value[:40] if isinstance(value, str | bytes) else value)[:60]
    return OddValue(f"expected {expected}, found {text}")


def check_text(value: object) -> Any:
    if value is None or isinstance(value, str):
        return value
    raise odd(value, "text")


def check_bytes(value: object) -> Any:
    if value is None or isinstance(value, bytes):
        return value
    raise odd(value, "a document")


def check_whole(value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, int | Decimal) and -LARGEST <= value <= LARGEST:
        return int(value)
    raise odd(value, "a whole number")


def check_real(value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= LATEST:
        return float(value)
    raise odd(value, f"a number from 0 to {LATEST:g}")


def check_flag(value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise odd(value, "true or false")


def _checked(kind: type[Any], check: Callable[[object], Any]) -> type[sa.types.TypeDecorator[Any]]:
    """A column type whose values are checked on reading before any conversion."""
    body = {"impl": kind, "cache_ok": True, "result_processor": lambda *_: check}
    return type(f"Checked{kind.__name__}", (sa.types.TypeDecorator,), body)


TextColumn = _checked(sa.String, check_text)
Document = _checked(sa.LargeBinary, check_bytes)
WholeColumn = _checked(sa.Integer, check_whole)
Large = _checked(sa.BigInteger, check_whole)
RealColumn = _checked(sa.Float, check_real)
Flag = _checked(sa.Boolean, check_flag)

STORE_VERSION = 7

metadata = sa.MetaData()

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite auto-increments only INTEGER columns

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", TextColumn, nullable=False, unique=True),
    sa.Column("started", RealColumn, nullable=False),
    sa.Column("total", WholeColumn, nullable=False),
    sa.Column("settings", Document, nullable=False),
    sa.Column("summary", Document),
    sa.Column("digest", Document),
    sa.Column("purpose", Document),
    sa.Column("result", Document),
    sa.Column("name", TextColumn, nullable=False, server_default=""),
    sa.Column("tags", TextColumn, nullable=False, server_default=""),  # separated by spaces
    sqlite_autoincrement=True,
)

# Columns for sums and lists; rows are numbered in order of arrival.
outcomes = sa.Table(
    "outcomes",
    metadata,
    sa.Column("number", _Number, autoincrement=True),
    sa.Column("run", WholeColumn, nullable=False),
    sa.Column("case_id", TextColumn, nullable=False),
    sa.Column("verdict", TextColumn, nullable=False),
    sa.Column("error", TextColumn),
    sa.Column("chance", RealColumn),
    sa.Column("calls", WholeColumn, nullable=False),
    sa.Column("input", Large, nullable=False),
    sa.Column("output", Large, nullable=False),
    sa.Column("cached", Large, nullable=False),
    sa.Column("seconds", RealColumn, nullable=False),
    sa.Column("fingerprint", Document, nullable=False),
    sa.Column("text_order", RealColumn),
    sa.Column("ignores_family", RealColumn),
    sa.PrimaryKeyConstraint("number", name="outcome_numbers"),
    sa.ForeignKeyConstraint(["run"], ["runs.number"], name="outcome_of_run"),
    sa.UniqueConstraint("run", "case_id", name="one_outcome_per_case"),
    sa.Index("outcomes_by_arrival", "run", "number"),
    sa.Index("outcomes_by_verdict", "run", "verdict", "number"),
)

# The full outcomes, in a separate table so that sums and lists never read them.
records = sa.Table(
    "records",
    metadata,
    sa.Column("outcome", _Number, sa.ForeignKey("outcomes.number"), primary_key=True, autoincrement=False),
    sa.Column("document", Document, nullable=False),
)

# Reports on tools, one document each.
tool_reports = sa.Table(
    "tool_reports",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", WholeColumn, sa.ForeignKey("runs.number"), nullable=False),
    sa.Column("tool", TextColumn, nullable=False),
    sa.Column("document", Document, nullable=False),
    sa.UniqueConstraint("run", "tool", name="one_report_per_tool"),
)

# Labels that people give to a run's discoveries.
labels = sa.Table(
    "labels",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", WholeColumn, sa.ForeignKey("runs.number"), nullable=False),
    sa.Column("item", TextColumn, nullable=False),
    sa.Column("labeller", TextColumn, nullable=False),
    sa.Column("erroneous", Flag, nullable=False),
    sa.Column("at", RealColumn, nullable=False),
    sa.UniqueConstraint("run", "item", "labeller", name="one_label_per_item_and_labeller"),
)

sessions = sa.Table(
    "sittings",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", WholeColumn, sa.ForeignKey("runs.number"), nullable=False, index=True),
    sa.Column("started", RealColumn, nullable=False),
    sa.Column("ended", RealColumn),
    sa.Column("spent", Document, nullable=False),
)

# The version in Alembic's format, in case the tables ever have to be migrated.
alembic_version = sa.Table(
    "alembic_version",
    metadata,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
