"""What a database has to offer to be a store."""

from contextlib import AbstractContextManager
from typing import Protocol

import sqlalchemy as sa

from misstep.errors import UsageError


class NotAStore(Exception):
    """The place holds something else; the message says what."""


class Hold(Protocol):
    """The exclusive right to work on a run; it ends with the process at the latest."""

    connection: sa.Connection  # to write with, and for nothing else

    def renew(self) -> None:
        """Take it anew after the connection was lost; a `UsageError` if somebody else has it now."""
        ...


class Database(Protocol):
    """One kind of database; `location` is fit to be shown and never holds a password."""

    location: str
    engine: sa.Engine

    def prepare(self, create: bool) -> None:
        """Get ready to connect, and make the place if it may be made; a `StoreError` if there is none."""
        ...

    def version(self, connection: sa.Connection) -> int:
        """The version of the store in it, 0 if there is nothing yet; `NotAStore` if it is something else."""
        ...

    def secure(self, connection: sa.Connection) -> None:
        """Let nobody else make or change the tables until this transaction ends."""
        ...

    def mark(self, connection: sa.Connection, version: int) -> None:
        """Write down the version wherever else it is looked for."""
        ...

    def settle(self) -> None:
        """Called once the store is known to be one of ours, at its newest version."""
        ...

    def check(self) -> None:
        """A `StoreError` if the place was taken away since it was opened."""
        ...

    def hold(self, run: str) -> AbstractContextManager[Hold]:
        """The exclusive right to this run; a `UsageError` if somebody has it already."""
        ...

    def is_held(self, run: str) -> bool: ...

    def holder(self, run: str) -> int:
        """The process that works on the run; 0 where that is not known."""
        ...

    def explain(self, error: Exception) -> tuple[str, ...]:
        """The reason for a driver's error in people's words, with what to do about it."""
        ...


def going_on(run: str, pid: int = 0) -> UsageError:
    process = f"process {pid}" if pid else "another process"
    return UsageError(f"run {run} is going on in {process}", "wait for it, or stop it first")
