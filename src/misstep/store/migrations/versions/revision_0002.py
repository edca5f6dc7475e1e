"""What is summed up gets columns of its own, apart from whole outcomes; sittings say what was spent."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_BATCH = 200
_MOST_TOKENS = 2**40
_LONGEST_KEY = 200


class _Settings(msgspec.Struct):
    jobs: int = 8


class _Case(msgspec.Struct):
    chance: float | None = None


class _Usage(msgspec.Struct):
    input: int = 0
    output: int = 0
    cached: int = 0


class _Transcript(msgspec.Struct):
    calls: tuple[msgspec.Raw, ...] = ()
    usage: _Usage = msgspec.field(default_factory=_Usage)


class _Outcome(msgspec.Struct):
    """As much of a stored outcome as the columns need."""

    case: msgspec.Raw = msgspec.Raw(b"{}")
    transcript: _Transcript = msgspec.field(default_factory=_Transcript)
    seconds: float = 0.0
    chance: float | None = None


class _Sum(msgspec.Struct):
    """What a run has spent, as a sitting has it."""

    usage: dict[str, _Usage]
    calls: int = 0
    seconds: float = 0.0


def upgrade() -> None:
    op.add_column("runs", sa.Column("digest", sa.LargeBinary))
    op.rename_table("outcomes", "old_outcomes")
    tables = _make_tables()
    _fill(op.get_bind(), *tables)
    op.drop_table("old_outcomes")


def _make_tables() -> tuple[sa.Table, sa.Table, sa.Table]:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    outcomes = op.create_table(
        "outcomes",
        sa.Column("number", number, autoincrement=True),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("case_id", sa.String, nullable=False),
        sa.Column("verdict", sa.String, nullable=False),
        sa.Column("error", sa.String),
        sa.Column("chance", sa.Float),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("input", sa.BigInteger, nullable=False),
        sa.Column("output", sa.BigInteger, nullable=False),
        sa.Column("cached", sa.BigInteger, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="outcome_numbers"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="outcome_of_run"),
        sa.UniqueConstraint("run", "case_id", name="one_outcome_per_case"),
    )
    op.create_index("outcomes_by_arrival", "outcomes", ["run", "number"])
    op.create_index("outcomes_by_verdict", "outcomes", ["run", "verdict", "number"])
    records = op.create_table(
        "records",
        sa.Column("outcome", number, sa.ForeignKey("outcomes.number"), primary_key=True, autoincrement=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    sittings = op.create_table(
        "sittings",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.Integer, sa.ForeignKey("runs.number"), nullable=False),
        sa.Column("started", sa.Float, nullable=False),
        sa.Column("ended", sa.Float),
        sa.Column("spent", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_sittings_run", "sittings", ["run"])
    return outcomes, records, sittings


def _fill(connection: sa.Connection, outcomes: sa.Table, records: sa.Table, sittings: sa.Table) -> None:
    sums: dict[int, _Sum] = defaultdict(lambda: _Sum({"agent": _Usage()}))
    for rows in _old_outcomes(connection):
        slim = []
        for row in rows:
            outcome = _decode(row.outcome)
            slim.append({"number": row.place, **_columns(row, outcome)})
            _add(sums[row.number], outcome)
        connection.execute(outcomes.insert(), slim)
        documents = [{"outcome": row.place, "document": row.outcome} for row in rows]
        connection.execute(records.insert(), documents)
    runs = connection.execute(sa.text("SELECT number, started, settings FROM runs ORDER BY number")).all()
    for run in runs:
        spent = sums[run.number]
        spent.seconds /= msgspec.json.decode(run.settings, type=_Settings).jobs  # which ran side by side
        ended = run.started + spent.seconds
        row = {"run": run.number, "started": run.started, "ended": ended, "spent": msgspec.json.encode(spent)}
        connection.execute(sittings.insert(), row)


def _old_outcomes(connection: sa.Connection) -> Iterator[list[Any]]:
    """A few at a time, in the order of arrival. Only SQLite files were ever of the first version."""
    if connection.dialect.name != "sqlite":
        return
    query = sa.text(
        "SELECT o.rowid AS place, r.number, o.case_id, o.verdict, o.error, o.outcome FROM old_outcomes o"
        " JOIN runs r ON r.id = o.run WHERE o.rowid > :last ORDER BY o.rowid LIMIT :batch"
    )
    last = 0
    while rows := connection.execute(query, {"last": last, "batch": _BATCH}).all():
        last = rows[-1].place
        yield list(rows)


def _decode(document: bytes) -> _Outcome:
    """An outcome that is damaged stays as it is; it counts, and whoever reads it is told."""
    try:
        outcome = msgspec.json.decode(document, type=_Outcome)
        outcome.chance = msgspec.json.decode(outcome.case, type=_Case).chance
        return outcome
    except msgspec.MsgspecError:
        return _Outcome()


def _columns(row: Any, outcome: _Outcome) -> dict[str, Any]:
    usage = outcome.transcript.usage
    return {
        "run": row.number,
        "case_id": _key(row.case_id),
        "verdict": row.verdict,
        "error": row.error,
        "chance": outcome.chance,
        "calls": len(outcome.transcript.calls),
        "input": _bounded(usage.input),
        "output": _bounded(usage.output),
        "cached": _bounded(usage.cached),
        "seconds": outcome.seconds,
        "fingerprint": hashlib.blake2b(bytes(outcome.case), digest_size=8).digest(),
    }


def _add(spent: _Sum, outcome: _Outcome) -> None:
    total, usage = spent.usage["agent"], outcome.transcript.usage
    total.input += usage.input
    total.output += usage.output
    total.cached += usage.cached
    spent.calls += len(outcome.transcript.calls)
    spent.seconds += outcome.seconds


def _bounded(tokens: int) -> int:
    return max(-_MOST_TOKENS, min(tokens, _MOST_TOKENS))


def _key(case: str) -> str:
    key = case.replace("\\", "\\\\").replace("\0", "\\0")
    if len(key) > _LONGEST_KEY:
        key = key[:_LONGEST_KEY] + hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    return key
