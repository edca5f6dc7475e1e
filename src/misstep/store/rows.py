"""Writes the results of a run as rows; a result is on disk once it is acknowledged.

An outcome is split into short columns that are summed up and a document that holds everything.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome, storable
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ToolReport
from misstep.core.results.fixing import FixReport
from misstep.core.spending import Spent
from misstep.store.database import PAUSES, Database, DatabaseConnection, Hold

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
        """Add a case and return its own fingerprint."""
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
        """Commit outcomes and this session's usage so far, all or nothing.

        Returns True for each outcome that is new, False if the case already had one, so that none counts
        twice.
        """
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
        """Record the end of this session."""
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
