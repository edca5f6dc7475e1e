"""Writes the results of a run; a result is on disk once it is acknowledged. Includes the lock files.

A lock is released when its process dies.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

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

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_TRIES, _PAUSE = 100, 0.01  # a process that only checks a lock holds it for a moment
_held: set[int] = set()  # descriptors of this process's locks


class Locked(Exception):
    """Another process has the lock; `pid` is the number it wrote into the file, 0 if none."""

    def __init__(self, pid: int = 0) -> None:
        super().__init__(pid)
        self.pid = pid


def _let_go() -> None:
    """Close the copies of lock descriptors in a forked child, which would keep the parent's locks."""
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; raises `Locked` if it is taken. Without lock support, proceed without one."""
    descriptor = _take(path)
    if descriptor is not None:
        _held.add(descriptor)
        os.write(descriptor, b"%d" % os.getpid())
    try:
        yield
    finally:
        if descriptor in _held:  # not in a forked child, which has released it
            _held.discard(descriptor)
            with suppress(OSError):
                path.unlink()  # before releasing it, so that a process that opened it sees that it is gone
            with suppress(OSError):
                os.close(descriptor)


def is_locked(path: Path) -> bool:
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _take(path: Path) -> int | None:
    for _ in range(_TRIES):
        try:
            descriptor = _try_once(path)
        except BlockingIOError:
            time.sleep(_PAUSE)
            continue
        except OSError:
            return None
        if descriptor is None or _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # its owner removed the file before releasing the lock
    raise Locked(owner_of(path))


def owner_of(path: Path) -> int:
    """The process that has the lock, according to the file."""
    try:
        return int(path.read_bytes()[:20])
    except (OSError, ValueError):
        return 0


def _try_once(path: Path) -> int | None:
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


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
