"""Runs read from rows, each checked by itself: whoever made the store, misstep may not have."""

import re
from typing import Any

import msgspec
import sqlalchemy as sa

from misstep.core.consistency import ConsistencyReport, PromptSet
from misstep.core.finding import Finding, ToolReport
from misstep.core.run_spec import ON_TOOLS, TESTING, RunSpec
from misstep.core.settings import Settings, decode_settings
from misstep.core.summary import Summary
from misstep.store import queries
from misstep.store.checked import (
    OddValue,
    check_bytes,
    check_real,
    check_text,
    check_whole,
    odd,
)

# Nothing that means something in a path or on a command line.
RUN_ID = re.compile("[0-9a-z]{4,20}")
PART_ID = re.compile("[0-9a-z]{1,40}")  # of findings and of sets of requests


class Run(msgspec.Struct, frozen=True):
    """A stored run; it has a summary once it has finished. `done` of its `total` cases have outcomes, or
    so many of its tools a report that was not cut short.

    The total is 0 where the campaign decides on the way how many cases there are.
    """

    id: str
    started: float
    total: int
    done: int
    settings: Settings
    summary: Summary | None
    digest: bytes = b""  # of all cases, where they were known beforehand
    purpose: RunSpec = TESTING


class DamagedRun(msgspec.Struct, frozen=True):
    """A run whose row holds something that misstep never writes; `why` says what."""

    id: str  # not checked: to be shown, and for nothing else
    why: str


def read_run(row: sa.Row[Any], connection: sa.Connection) -> Run | DamagedRun:
    try:
        return _run_from(row, connection)
    except (ValueError, RecursionError) as error:  # ValueError: also what msgspec raises
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
    if not summary and purpose.verb in ON_TOOLS:
        done -= queries.count_stopped(connection, row.number)
    digest = _checked("digest", row.digest, check_bytes) or b""
    total = _said(row, "total", check_whole)
    if total < 0:
        raise odd(total, "total: a count")
    return Run(run, started, total, done, settings, summary, digest, purpose)


def check_parts(document: object) -> None:
    """Raise an `OddValue` where a document names its parts by anything but ids that misstep makes."""
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
        return msgspec.structs.replace(settings, trust_store=False)  # no store can vouch for itself
    except OddValue:
        raise
    except (ValueError, RecursionError) as error:
        raise OddValue(f"settings: {error}") from error


def _document(row: Any, name: str, kind: type[Any]) -> Any:
    """The value of a column that holds JSON, None where there is none."""
    stored = _checked(name, getattr(row, name), check_bytes)
    try:
        return msgspec.json.decode(stored, type=kind) if stored else None
    except (ValueError, RecursionError) as error:
        raise OddValue(f"{name}: {error}") from error


def _said(row: Any, name: str, check: Any) -> Any:
    """The value of a column that has to have one."""
    value = getattr(row, name)
    if value is None:
        raise OddValue(f"{name}: there is none")
    return _checked(name, value, check)


def _checked(name: str, value: object, check: Any) -> Any:
    try:
        return check(value)
    except OddValue as error:
        raise OddValue(f"{name}: {error}") from error
