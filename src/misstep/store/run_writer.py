"""Writes the results of a run; a result is on disk once it is acknowledged. Includes the lock files.

A lock is released when its process dies.
"""

import time
from collections.abc import Sequence

import sqlalchemy as sa

from misstep.core.outcome import Outcome
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ToolReport
from misstep.core.results.fixing import FixReport
from misstep.core.spending import Spent
from misstep.store import tables
from misstep.store.database import PAUSES, Hold, Transactions
from misstep.store.rows import Statements, encode, key_of, row_of
from misstep.store.tables import sessions, tool_reports


class RunWriter:
    """One session of a run, which no other process works on; call `keep` from one thread at a time."""

    def __init__(self, transactions: Transactions, hold: Hold, run: int, session: int) -> None:
        self._transactions, self._hold, self._run = transactions, hold, run
        self._statements = Statements(transactions.database.engine.dialect)
        self._session = session

    def keep(self, outcomes: Sequence[Outcome], spent: Spent) -> list[bool]:
        """Commit outcomes and this session's usage so far, all or nothing.

        Returns True for each outcome that is new, False if the case already had one, so that none counts
        twice.
        """
        rows = [row_of(outcome) for outcome in outcomes]
        total = encode(spent)
        tried: list[int | None] = []

        def write(connection: sa.Connection) -> list[bool]:
            there = _find(connection, tried)
            kept = [place in there for place in tried]
            tried[:] = self._statements.add(connection, self._run, rows)
            self._statements.spend(connection, self._session, total)
            new = [place is not None for place in tried]
            return [a or b for a, b in zip(new, kept, strict=True)] if kept else new

        return self._transactions.insist(self._hold, write)

    def keep_report(
        self, report: ToolReport | ConsistencyReport | GroupReport | TaskReport | FixReport, spent: Spent
    ) -> None:
        """Commit the report on a tool or a task, replacing an earlier one."""
        row = {"run": self._run, "tool": key_of(report.name), "document": encode(report)}
        same = sa.and_(tool_reports.c.run == row["run"], tool_reports.c.tool == row["tool"])

        def write(connection: sa.Connection) -> None:
            connection.execute(tool_reports.delete().where(same))
            connection.execute(tool_reports.insert(), row)
            self._statements.spend(connection, self._session, encode(spent))

        self._transactions.insist(self._hold, write)

    def leave(self) -> None:
        """Record the end of this session."""
        end = sessions.update().where(sessions.c.number == self._session).values(ended=time.time())
        self._transactions.insist(self._hold, lambda connection: connection.execute(end), PAUSES[:1])


def _find(connection: sa.Connection, places: Sequence[int | None]) -> set[int | None]:
    """Rows of an earlier attempt that were committed although the connection broke before confirming it."""
    number = tables.outcomes.c.number
    return set(connection.scalars(sa.select(number).where(number.in_(places)))) if places else set()
