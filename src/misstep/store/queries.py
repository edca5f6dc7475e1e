"""SQL queries on the tables, and runs decoded from rows.

Outcomes are in order of arrival. Each run is validated individually, because the store may have been made or
changed by something other than misstep.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, Judgement, Usage
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.finding import Finding, ToolReport
from misstep.core.results.summary import Run, Summary, Tally
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import RUN_NAME, Settings, decode_settings
from misstep.store.database import DatabaseConnection
from misstep.store.tables import OddValue, check_bytes, check_real, check_text, check_whole, odd

_RUNS = """
SELECT number, id, started, total, settings, summary, digest, purpose, name, tags,
  CASE WHEN summary IS NULL THEN (SELECT count(*) FROM outcomes WHERE run = runs.number)
    + (SELECT count(*) FROM tool_reports WHERE run = runs.number) END AS done
FROM runs WHERE {} ORDER BY number DESC"""


def select_runs(
    connection: DatabaseConnection, condition: str, values: Sequence[object] = ()
) -> "list[Run | DamagedRun]":
    """Runs, newest first; stored results are counted only if there is no summary."""
    # Unchecked, so that one invalid value does not break the whole list. Each run is checked individually.
    found = connection.select(_RUNS.format(condition), values, check=False)
    return [_read_run(row, connection) for row in found]


class _Ending(msgspec.Struct):
    """The fields that all tool reports have in common."""

    ended: str = ""


def count_stopped(connection: DatabaseConnection, run: int) -> int:
    """How many of a run's tool reports were cut short: they are stored, but there is more to do."""
    documents = connection.scalars("SELECT document FROM tool_reports WHERE run = ?", (run,))
    return sum(msgspec.json.decode(each, type=_Ending).ended == "stopped" for each in documents)


class Dearest(msgspec.Struct, frozen=True):
    """The maximum of each quantity, not necessarily from the same case."""

    usage: Usage = Usage()
    tokens: int = 0
    calls: int = 0
    seconds: float = 0.0


def tally(connection: DatabaseConnection, run: int, after: int | None = None, last: int = 0) -> Tally:
    """The tally of a run's outcomes, optionally only those after one number and up to another."""
    total = Tally()
    some = "" if after is None else "AND number > ? AND number <= ?"
    for row in connection.select(_TALLY.format(some), (run,) if after is None else (run, after, last)):
        verdict: Judgement = row.verdict
        if verdict not in JUDGEMENTS:
            raise odd(verdict, "a verdict")
        total.verdicts[verdict] += row.cases
        for kind in ERROR_KINDS:
            total.errors[kind] += getattr(row, kind)
        if verdict in ("passed", "failed"):
            total.chances += row.chance or 0.0
            total.text_order += row.text_order or 0.0
            total.ignores_family += row.ignores_family or 0.0
            total.compared += row.compared
        total.calls += row.calls or 0
        total.usage += Usage(row.input or 0, row.output or 0, row.cached or 0)
        total.seconds += row.seconds or 0.0
    return total


_ERRORS = ", ".join(f"""count(*) FILTER (WHERE error = '{kind}') AS "{kind}" """ for kind in ERROR_KINDS)
_SUMS = ("chance", "text_order", "ignores_family", "calls", "input", "output", "cached", "seconds")
# Grouped by verdict alone, which the index provides in order, so nothing needs to be sorted.
_TALLY = f"""
SELECT verdict, count(*) AS cases, count(text_order) AS compared,
  {_ERRORS}, {", ".join(f"sum({name}) AS {name}" for name in _SUMS)}
FROM outcomes WHERE run = ? {{}} GROUP BY verdict"""


# No characters with a special meaning in a path or on a command line.
RUN_ID = re.compile("[0-9a-z]{4,20}")
PART_ID = re.compile("[0-9a-z]{1,40}")  # of findings and of request sets


class DamagedRun(msgspec.Struct, frozen=True):
    """A run whose row contains something that misstep never writes; `why` says what."""

    id: str  # not validated: only for display
    why: str


def _read_run(row: Any, connection: DatabaseConnection) -> Run | DamagedRun:
    try:
        return _run_from(row, connection)
    except (ValueError, RecursionError) as error:  # ValueError includes msgspec's errors
        return DamagedRun(str(row.id)[:60], str(error) or type(error).__name__)


def _run_from(row: Any, connection: DatabaseConnection) -> Run:
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
        return None if value is None else check(value)
    except OddValue as error:
        raise OddValue(f"{name}: {error}") from error
