"""Converts outcomes, labels and usage to rows and writes them.

An outcome is split into short columns that are summed up and a document that holds everything.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from misstep.core.case import Case
from misstep.core.outcome import Outcome, storable
from misstep.core.results.label import Label
from misstep.core.spending import Spent
from misstep.store.tables import labels

SLIM = (
    "run",
    "case_id",
    "verdict",
    "error",
    "chance",
    "text_order",
    "ignores_family",
    "calls",
    "input",
    "output",
    "cached",
    "seconds",
    "fingerprint",
)

_MOST_TOKENS = 2**40  # limits what a server reports, so that no sum overflows
_LONGEST_KEY = 200  # databases limit the length of indexed text

_encoder = msgspec.json.Encoder()
_outcome_decoder = msgspec.json.Decoder(Outcome)
_spent_decoder = msgspec.json.Decoder(Spent)

encode = _encoder.encode
decode_outcome = _outcome_decoder.decode
decode_spent = _spent_decoder.decode


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


class OutcomeRow(msgspec.Struct, frozen=True):
    """An outcome split for its two tables."""

    key: str
    slim: tuple[Any, ...]  # in the order of `SLIM`, without the run
    document: bytes


def row_of(outcome: Outcome) -> OutcomeRow:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    key, usage = key_of(case.id), transcript.usage
    tokens = (_bounded(usage.input), _bounded(usage.output), _bounded(usage.cached))
    naive = outcome.baselines
    passing = (naive.text_order, naive.ignores_family) if naive else (None, None)
    judged = (verdict.verdict, verdict.error, case.chance, *passing)
    slim = (key, *judged, len(transcript.calls), *tokens, outcome.seconds, fingerprint(case))
    return OutcomeRow(key, slim, encode(outcome))


def _bounded(tokens: int) -> int:
    return tokens if -_MOST_TOKENS < tokens < _MOST_TOKENS else _MOST_TOKENS if tokens > 0 else -_MOST_TOKENS


_PUT = sa.text(
    "INSERT INTO labels (run, item, labeller, erroneous, at) VALUES (:run, :item, :labeller, :erroneous, :at)"
    " ON CONFLICT (run, item, labeller) DO UPDATE SET erroneous = excluded.erroneous, at = excluded.at"
)


def put(connection: sa.Connection, run: int, label: Label) -> None:
    """Store a label, replacing the same person's earlier label for the item."""
    key = {"run": run, "item": key_of(label.item), "labeller": key_of(label.labeller)}
    connection.execute(_PUT, {**key, "erroneous": label.erroneous, "at": label.at})


def select(connection: sa.Connection, run: int) -> list[Label]:
    """All labels of a run in the order in which items were first labelled."""
    query = sa.select(labels).where(labels.c.run == run).order_by(labels.c.number)
    return [Label(row.item, row.labeller, row.erroneous, row.at) for row in connection.execute(query)]


_AT_ONCE = 80  # rows per statement: some builds of SQLite allow no more than 999 values


class Statements:
    """Statements precompiled for one driver: compiling them each time would take longer than running them."""

    def __init__(self, dialect: sa.Dialect) -> None:
        mark = "?" if dialect.paramstyle == "qmark" else "%s"
        self._place = f"({', '.join([mark] * len(SLIM))})"
        self._beginning = f"INSERT INTO outcomes ({', '.join(SLIM)}) VALUES "
        self._end = " ON CONFLICT DO NOTHING RETURNING case_id, number"
        self._document = f"INSERT INTO records (outcome, document) VALUES ({mark}, {mark})"
        self._spent = f"UPDATE sittings SET spent = {mark} WHERE number = {mark}"

    def add(self, connection: sa.Connection, run: int, rows: Sequence[OutcomeRow]) -> list[int | None]:
        """Insert rows; returns the number of each, or None if its case already had an outcome."""
        numbers: dict[str, int] = {}
        for start in range(0, len(rows), _AT_ONCE):
            numbers |= self._add_slim(connection, run, rows[start : start + _AT_ONCE])
        places = [numbers.pop(row.key, None) for row in rows]
        pairs = zip(places, rows, strict=True)
        if documents := [(place, row.document) for place, row in pairs if place is not None]:
            connection.exec_driver_sql(self._document, documents)
        return places

    def spend(self, connection: sa.Connection, session: int, spent: bytes) -> None:
        connection.exec_driver_sql(self._spent, (spent, session))

    def _add_slim(self, connection: sa.Connection, run: int, rows: Sequence[OutcomeRow]) -> dict[str, int]:
        statement = self._beginning + ", ".join([self._place] * len(rows)) + self._end
        values = tuple(value for row in rows for value in (run, *row.slim))
        return {row[0]: row[1] for row in connection.exec_driver_sql(statement, values)}
