"""SQL queries on the tables, and runs decoded from rows.

Outcomes are in order of arrival. Each run is validated individually, because the store may have been made or
changed by something other than misstep.
"""

import re
from typing import Any

import msgspec
import sqlalchemy as sa

from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, Judgement, Usage
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.finding import Finding, ToolReport
from misstep.core.results.summary import Run, Summary, Tally
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import RUN_NAME, Settings, decode_settings
from misstep.store.rows import key_of
from misstep.store.tables import (
    OddValue,
    check_bytes,
    check_real,
    check_text,
    check_whole,
    odd,
    outcomes,
    runs,
    tool_reports,
)


def begins(column: sa.Column[Any], beginning: str) -> sa.ColumnElement[bool]:
    """A prefix match by exact characters; LIKE differs between databases."""
    key = key_of(beginning)
    return sa.func.substr(column, 1, len(key)) == key


def select_runs(condition: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select runs, newest first; stored results are counted only if there is no summary."""
    counts = [
        sa.select(sa.func.count()).where(table.c.run == runs.c.number).scalar_subquery()
        for table in (outcomes, tool_reports)
    ]
    done = sa.case((runs.c.summary.is_(None), counts[0] + counts[1])).label("done")
    # Unconverted, so that one invalid value does not break the whole list. Each run is checked individually.
    slim: list[Any] = [
        sa.type_coerce(each, sa.types.NULLTYPE).label(each.name) for each in runs.c if each.name != "result"
    ]
    return sa.select(*slim, done).where(condition).order_by(runs.c.number.desc())


class _Ending(msgspec.Struct):
    """The fields that all tool reports have in common."""

    ended: str = ""


def count_stopped(connection: sa.Connection, run: int) -> int:
    """How many of a run's tool reports were cut short: they are stored, but there is more to do."""
    documents = connection.scalars(sa.select(tool_reports.c.document).where(tool_reports.c.run == run))
    return sum(msgspec.json.decode(each, type=_Ending).ended == "stopped" for each in documents)


class Dearest(msgspec.Struct, frozen=True):
    """The maximum of each quantity, not necessarily from the same case."""

    usage: Usage = Usage()
    tokens: int = 0
    calls: int = 0
    seconds: float = 0.0


def tally(connection: sa.Connection, run: int, after: int | None = None, last: int = 0) -> Tally:
    """The tally of a run's outcomes, optionally only those after one number and up to another."""
    total = Tally()
    query = _TALLY if after is None else _TALLY.where(outcomes.c.number > after, outcomes.c.number <= last)
    for row in connection.execute(query, {"run": run}).mappings():
        verdict: Judgement = row["verdict"]
        if verdict not in JUDGEMENTS:
            raise odd(verdict, "a verdict")
        total.verdicts[verdict] += row["cases"]
        for kind in ERROR_KINDS:
            total.errors[kind] += row[kind]
        if verdict in ("passed", "failed"):
            total.chances += row["chances"] or 0.0
            total.text_order += row["text_order"] or 0.0
            total.ignores_family += row["ignores_family"] or 0.0
            total.compared += row["compared"]
        total.calls += row["calls"] or 0
        total.usage += Usage(*(row[name] or 0 for name in ("input", "output", "cached")))
        total.seconds += row["seconds"] or 0.0
    return total


# Grouped by verdict alone, which the index provides in order, so nothing needs to be sorted.
_TALLY = (
    sa.select(
        outcomes.c.verdict,
        sa.func.count().label("cases"),
        *(sa.func.count().filter(outcomes.c.error == kind).label(kind) for kind in ERROR_KINDS),
        sa.func.sum(outcomes.c.chance).label("chances"),
        sa.func.sum(outcomes.c.text_order).label("text_order"),
        sa.func.sum(outcomes.c.ignores_family).label("ignores_family"),
        sa.func.count(outcomes.c.text_order).label("compared"),
        *(
            sa.func.sum(outcomes.c[name]).label(name)
            for name in ("calls", "input", "output", "cached", "seconds")
        ),
    )
    .where(outcomes.c.run == sa.bindparam("run"))
    .group_by(outcomes.c.verdict)
)


# No characters with a special meaning in a path or on a command line.
RUN_ID = re.compile("[0-9a-z]{4,20}")
PART_ID = re.compile("[0-9a-z]{1,40}")  # of findings and of request sets


class DamagedRun(msgspec.Struct, frozen=True):
    """A run whose row contains something that misstep never writes; `why` says what."""

    id: str  # not validated: only for display
    why: str


def read_run(row: sa.Row[Any], connection: sa.Connection) -> Run | DamagedRun:
    try:
        return _run_from(row, connection)
    except (ValueError, RecursionError) as error:  # ValueError includes msgspec's errors
        return DamagedRun(str(row.id)[:60], str(error) or type(error).__name__)


def _run_from(row: sa.Row[Any], connection: sa.Connection) -> Run:
    run, started = _said(row, "id", check_text), _said(row, "started", check_real)
    if not RUN_ID.fullmatch(run):
        raise odd(run, f"an id that matches {RUN_ID.pattern}")
    purpose = _document(row, "purpose", RunSpec) or TESTING
    if purpose.run and not RUN_ID.fullmatch(purpose.run):
        raise odd(purpose.run, f"an id that matches {RUN_ID.pattern}")
    summary = _document(row, "summary", Summary)
    if summary:
        _check_summary(summary, run)
    settings = _settings(row)
    done = summary.cases if summary else row.done or 0
    if not summary and purpose.kind.group == "tool":
        done -= count_stopped(connection, row.number)
    digest = _checked("digest", row.digest, check_bytes) or b""
    total = _said(row, "total", check_whole)
    if total < 0:
        raise odd(total, "total: a count")
    name, tags = (_said(row, column, check_text) for column in ("name", "tags"))
    for each in (*([name] if name else []), *tags.split()):
        if not re.fullmatch(RUN_NAME, each):
            raise odd(each, f"a name that matches {RUN_NAME}")
    return Run(run, started, total, done, settings, summary, digest, purpose, name, tuple(tags.split()))


def check_parts(document: object) -> None:
    """Raise `OddValue` if a document has parts with ids that misstep would not generate."""
    parts: tuple[Finding | PromptSet, ...] = ()
    if isinstance(document, ToolReport):
        parts = (*document.findings, *document.unconfirmed)
    elif isinstance(document, ConsistencyReport):
        parts = document.sets
    for part in parts:
        if not PART_ID.fullmatch(part.id):
            raise odd(part.id, f"an id that matches {PART_ID.pattern}")


def _check_summary(summary: Summary, run: str) -> None:
    if summary.run != run:
        raise odd(summary.run, f"a summary of run {run}")
    counts = (summary.cases, summary.passed, summary.failed, summary.inconclusive, summary.errored)
    numbers = (*counts, *summary.errors.values(), summary.calls, summary.seconds, *summary.interval)
    rates = [rate for rate in (summary.success, summary.chance, summary.usd) if rate is not None]
    for number in (*numbers, *rates):
        _checked("summary", number, check_real)


def _settings(row: Any) -> Settings:
    try:
        settings = decode_settings(_said(row, "settings", check_bytes))
        return settings.overlay({"trust_store": False})  # a store can't declare itself trusted
    except OddValue:
        raise
    except (ValueError, RecursionError) as error:
        raise OddValue(f"settings: {error}") from error


def _document(row: Any, name: str, kind: type[Any]) -> Any:
    """The decoded value of a JSON column; None if it is empty."""
    stored = _checked(name, getattr(row, name), check_bytes)
    try:
        return msgspec.json.decode(stored, type=kind) if stored else None
    except (ValueError, RecursionError) as error:
        raise OddValue(f"{name}: {error}") from error


def _said(row: Any, name: str, check: Any) -> Any:
    """The value of a required column."""
    value = getattr(row, name)
    if value is None:
        raise OddValue(f"{name}: there is none")
    return _checked(name, value, check)


def _checked(name: str, value: object, check: Any) -> Any:
    try:
        return check(value)
    except OddValue as error:
        raise OddValue(f"{name}: {error}") from error
