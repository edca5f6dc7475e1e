"""Writes the results of a run; a result is on the disk when it has been acknowledged."""

import time
from collections.abc import Sequence

import sqlalchemy as sa

from misstep.core.benchmark import TaskReport
from misstep.core.consistency import ConsistencyReport
from misstep.core.crosstalk import GroupReport
from misstep.core.finding import ToolReport
from misstep.core.fixing import FixReport
from misstep.core.outcome import Outcome
from misstep.core.spending import Spent
from misstep.store import schema
from misstep.store.database import Hold
from misstep.store.rows import encode, key_of, row_of
from misstep.store.schema import sittings, tool_reports
from misstep.store.statements import Statements
from misstep.store.transactions import PAUSES, Transactions


class RunWriter:
    """A sitting of one run, which is nobody else's meanwhile; `keep` is for one thread at a time."""

    def __init__(self, transactions: Transactions, hold: Hold, run: int, sitting: int) -> None:
        self._transactions, self._hold, self._run = transactions, hold, run
        self._statements = Statements(transactions.database.engine.dialect)
        self._sitting = sitting

    def keep(self, outcomes: Sequence[Outcome], spent: Spent) -> list[bool]:
        """Commit outcomes, and all that this sitting has spent so far: everything or nothing.

        True for each outcome that is new, False where the case had one already: none counts twice.
        """
        rows = [row_of(outcome) for outcome in outcomes]
        total = encode(spent)
        tried: list[int | None] = []

        def write(connection: sa.Connection) -> list[bool]:
            there = _find(connection, tried)
            kept = [place in there for place in tried]
            tried[:] = self._statements.add(connection, self._run, rows)
            self._statements.spend(connection, self._sitting, total)
            new = [place is not None for place in tried]
            return [a or b for a, b in zip(new, kept, strict=True)] if kept else new

        return self._transactions.insist(self._hold, write)

    def keep_report(
        self, report: ToolReport | ConsistencyReport | GroupReport | TaskReport | FixReport, spent: Spent
    ) -> None:
        """Commit what was found out about a tool or a task, in the place of what was there before."""
        row = {"run": self._run, "tool": key_of(report.name), "document": encode(report)}
        same = sa.and_(tool_reports.c.run == row["run"], tool_reports.c.tool == row["tool"])

        def write(connection: sa.Connection) -> None:
            connection.execute(tool_reports.delete().where(same))
            connection.execute(tool_reports.insert(), row)
            self._statements.spend(connection, self._sitting, encode(spent))

        self._transactions.insist(self._hold, write)

    def leave(self) -> None:
        """Write down that this sitting came to its end."""
        end = sittings.update().where(sittings.c.number == self._sitting).values(ended=time.time())
        self._transactions.insist(self._hold, lambda connection: connection.execute(end), PAUSES[:1])


def _find(connection: sa.Connection, places: Sequence[int | None]) -> set[int | None]:
    """Which rows of an earlier try are there, although the connection broke before it could say so."""
    number = schema.outcomes.c.number
    return set(connection.scalars(sa.select(number).where(number.in_(places)))) if places else set()
