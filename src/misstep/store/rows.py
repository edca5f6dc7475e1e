"""Writes the results of a run as rows, and reads runs and counts; what is acknowledged is on disk.

An outcome is split into short columns that are summed up and a document that holds everything. Each run is
validated individually, because the store may have been made or changed by something other than misstep.
"""

import hashlib
import re
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, Judgement, Outcome, Usage, storable
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import Finding
from misstep.core.results.fixing import FixReport
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.summary import Run, Summary, Tally
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import RUN_NAME, Settings
from misstep.core.settings.reading import decode_settings
from misstep.core.spending import Spent
from misstep.store.database import PAUSES, Database, DatabaseConnection, Hold
from misstep.store.tables import OddValue, check_bytes, check_real, check_text, check_whole, odd

# The columns of `outcomes`, in the order of `_columns_of`.
SLIM = (
    "run", "case_id", "verdict", "error", "chance", "text_order", "ignores_family",
    "calls", "input", "output", "cached", "seconds", "fingerprint",
)  # fmt: skip

_ROW = f"({', '.join('?' for _ in SLIM)})"
_UPDATE_SPENT = "UPDATE sittings SET spent = ? WHERE number = ?"

_MOST_TOKENS = 2**40  # limits what a server reports, so that no sum overflows
_LONGEST_KEY = 200  # databases limit the length of indexed text
_AT_ONCE = 80  # rows per statement: some builds of SQLite allow no more than 999 values

encode = msgspec.json.Encoder().encode
decode_outcome = msgspec.json.Decoder(Outcome).decode
decode_spent = msgspec.json.Decoder(Spent).decode


class Digest:
    """An order-independent digest of many cases."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, case: Case) -> bytes:
        own = fingerprint(case)
        self.count += 1
        self._sum = (self._sum + int.from_bytes(own)) % 2**64
        return own

    def __bytes__(self) -> bytes:
        return self._sum.to_bytes(8)


def fingerprint(case: Case) -> bytes:
    """A digest of the case's whole content."""
    return hashlib.blake2b(encode(case), digest_size=8).digest()


def key_of(text: str) -> str:
    """Encode a name so that databases can store and index it; distinct names and prefixes stay distinct."""
    if "\\" in text or "\0" in text:
        text = text.replace("\\", "\\\\").replace("\0", "\\0")
    if not text.isascii():
        text = storable(text)
    if len(text) > _LONGEST_KEY:
        text = text[:_LONGEST_KEY] + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return text


def _columns_of(run: int, outcome: Outcome) -> tuple[Any, ...]:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    usage, naive = transcript.usage, outcome.baselines
    counts = (usage.input, usage.output, usage.cached)
    tokens = [max(-_MOST_TOKENS, min(each, _MOST_TOKENS)) for each in counts]
    passing = (naive.text_order, naive.ignores_family) if naive else (None, None)
    judged = (key_of(case.id), verdict.verdict, verdict.error, case.chance, *passing)
    return (run, *judged, len(transcript.calls), *tokens, outcome.seconds, fingerprint(case))


class RunWriter:
    """One session of a run, which no other process works on; call `keep` from one thread at a time."""

    def __init__(self, database: Database, hold: Hold, run: int, session: int) -> None:
        self._database, self._hold, self._run, self._session = database, hold, run, session

    def keep(self, outcomes: Sequence[Outcome], spent: Spent) -> list[bool]:
        """Commit outcomes and usage so far, all or nothing; True for each outcome whose case had none yet."""
        rows = [_columns_of(self._run, outcome) for outcome in outcomes]
        documents = [encode(outcome) for outcome in outcomes]
        total = encode(spent)
        tried: list[int | None] = []

        def write(connection: DatabaseConnection) -> list[bool]:
            there = _find(connection, tried)
            kept = [place in there for place in tried] or [False] * len(rows)
            tried[:] = self._insert(connection, rows)
            if new := [pair for pair in zip(tried, documents, strict=True) if pair[0] is not None]:
                connection.execute_many("INSERT INTO records (outcome, document) VALUES (?, ?)", new)
            connection.execute(_UPDATE_SPENT, (total, self._session))
            return [place is not None or before for place, before in zip(tried, kept, strict=True)]

        return self._database.insist(self._hold, write)

    def keep_report(
        self, report: ToolReport | ConsistencyReport | GroupReport | TaskReport | FixReport, spent: Spent
    ) -> None:
        """Commit the report on a tool or a task, replacing an earlier one."""
        row = (self._run, key_of(report.name), encode(report))

        def write(connection: DatabaseConnection) -> None:
            connection.execute("DELETE FROM tool_reports WHERE run = ? AND tool = ?", row[:2])
            connection.execute("INSERT INTO tool_reports (run, tool, document) VALUES (?, ?, ?)", row)
            connection.execute(_UPDATE_SPENT, (encode(spent), self._session))

        self._database.insist(self._hold, write)

    def leave(self) -> None:
        end = "UPDATE sittings SET ended = ? WHERE number = ?"
        values = (time.time(), self._session)
        self._database.insist(self._hold, lambda connection: connection.execute(end, values), PAUSES[:1])

    def _insert(self, connection: DatabaseConnection, rows: Sequence[tuple[Any, ...]]) -> list[int | None]:
        """Insert rows; returns the number of each, or None if its case already had an outcome."""
        numbers: dict[str, int] = {}
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            statement = (
                f"INSERT INTO outcomes ({', '.join(SLIM)}) VALUES {', '.join([_ROW] * len(some))}"
                " ON CONFLICT DO NOTHING RETURNING case_id, number"
            )
            values = [value for row in some for value in row]
            numbers |= dict(connection.execute(statement, values))
        return [numbers.pop(row[1], None) for row in rows]


def _find(connection: DatabaseConnection, places: Sequence[int | None]) -> set[int | None]:
    """Rows of an earlier attempt that were committed although the connection broke before confirming it."""
    if not places:
        return set()
    wanted = ", ".join("?" for _ in places)
    return {*connection.scalars(f"SELECT number FROM outcomes WHERE number IN ({wanted})", places)}


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
    value = getattr(row, name)
    if value is None:
        raise OddValue(f"{name}: there is none")
    return _checked(name, value, check)


def _checked(name: str, value: object, check: Any) -> Any:
    try:
        return None if value is None else check(value)
    except OddValue as error:
        raise OddValue(f"{name}: {error}") from error
