"""The store of runs: every outcome is kept as soon as it arrives."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, decode_settings, encode_settings
from misstep.core.summary import Summary
from misstep.core.verdict import Judgement
from misstep.errors import StoreError, UsageError
from misstep.store import schema
from misstep.store.schema import outcomes, runs

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # nothing that is mistaken for something else


class Run(msgspec.Struct, frozen=True):
    """A stored run; it has a summary once it has finished. `done` of its `total` cases have outcomes."""

    id: str
    started: float
    total: int
    done: int
    settings: Settings
    summary: Summary | None


class Store:
    """Runs in an SQLite file; with `create` the file is made where there is none."""

    def __init__(self, location: str, create: bool = False) -> None:
        self.location = location
        path = _path_of(location)
        if create:
            _make_directory(path)
        elif not path.exists() or (path.is_file() and not path.stat().st_size):
            raise StoreError("there is no store here yet", "misstep plan test makes one", where=location)
        self._readers = schema.connect(str(path.absolute()))
        self._writers = self._readers.execution_options(writing=True)
        if create:
            with self._writing() as connection:
                schema.create(connection)
        with self._reading() as connection:
            schema.recognise(connection)
        if create:
            self._keep_a_log()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._readers.dispose()

    def add_run(self, settings: Settings, total: int, started: float) -> Run:
        run = secrets.choice(_ALPHABET[8:]) + "".join(secrets.choice(_ALPHABET) for _ in range(5))
        row = {"id": run, "started": started, "total": total, "settings": encode_settings(settings)}
        with self._writing() as connection:
            connection.execute(runs.insert(), row)
        return Run(run, started, total, 0, settings, None)

    def add_outcome(self, run: str, outcome: Outcome) -> bool:
        """Keep an outcome; False for a second one of the same case, which is dropped: none counts twice."""
        row = {
            "run": run,
            "case_id": outcome.case.id,
            "verdict": outcome.verdict.verdict,
            "error": outcome.verdict.error,
            "outcome": msgspec.json.encode(outcome),
        }
        with self._writing() as connection:
            return connection.execute(sqlite.insert(outcomes).on_conflict_do_nothing(), row).rowcount == 1

    def finish_run(self, run: str, summary: Summary) -> None:
        with self._writing() as connection:
            change = runs.update().where(runs.c.id == run)
            connection.execute(change.values(summary=msgspec.json.encode(summary)))

    def list_runs(self) -> list[Run]:
        """All runs, the newest first."""
        return self._select_runs(sa.true())

    def find_run(self, name: str) -> Run:
        """The run with this id, or whose id begins so; `last` is the newest."""
        if name == "last":
            found = self._select_runs(
                runs.c.number == sa.select(sa.func.max(runs.c.number)).scalar_subquery()
            )
        else:
            found = self._select_runs(runs.c.id == name) or self._select_runs(
                runs.c.id.startswith(name, autoescape=True)
            )
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(run.id for run in found[:5])
            raise UsageError(f"'{name}' could be any of several runs", f"they are {ids}", where=self.location)
        raise UsageError(f"there is no run '{name}'", "misstep runs lists them", where=self.location)

    def outcomes(self, run: str, verdict: Judgement | None = None) -> Iterator[Outcome]:
        """A run's outcomes in the order in which they arrived."""
        query = sa.select(outcomes.c.outcome).where(outcomes.c.run == run).order_by(sa.text("rowid"))
        if verdict:
            query = query.where(outcomes.c.verdict == verdict)
        with self._reading() as connection:
            for (encoded,) in connection.execution_options(yield_per=100).execute(query):
                yield msgspec.json.decode(encoded, type=Outcome)

    def find_outcome(self, run: str, case: str) -> Outcome:
        """The outcome of the case with this id, or whose id begins so."""
        beginning = outcomes.c.case_id.startswith(case, autoescape=True)
        found = self._select_outcomes(run, outcomes.c.case_id == case) or self._select_outcomes(
            run, beginning
        )
        if len(found) == 1:
            return found[0]
        problem = f"'{case}' could be any of several cases" if found else f"there is no case '{case}'"
        raise UsageError(f"{problem} in run {run}", f"misstep show {run} lists them", where=self.location)

    def _select_outcomes(self, run: str, condition: sa.ColumnElement[bool]) -> list[Outcome]:
        """Two at the most: enough to know whether there is just one."""
        query = sa.select(outcomes.c.outcome).where(outcomes.c.run == run, condition).limit(2)
        with self._reading() as connection:
            return [msgspec.json.decode(encoded, type=Outcome) for encoded in connection.scalars(query)]

    def _select_runs(self, condition: sa.ColumnElement[bool]) -> list[Run]:
        done = sa.select(sa.func.count()).where(outcomes.c.run == runs.c.id).scalar_subquery()
        columns = (runs.c.id, runs.c.started, runs.c.total, done, runs.c.settings, runs.c.summary)
        query = sa.select(*columns).where(condition).order_by(runs.c.number.desc())
        with self._reading() as connection:
            return [_run_from(*row) for row in connection.execute(query)]

    def _keep_a_log(self) -> None:
        """Write ahead: readers see the last commit while a writer works on the next."""
        with self._explained(), self._readers.connect() as connection:
            connection.connection.cursor().execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._explained(), self._readers.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._explained(), self._writers.begin() as connection:
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what goes wrong with the file into an error that people can act on."""
        try:
            yield
        except schema.NotAStore as error:
            raise StoreError(
                "is not a store that this misstep can use", f"it is {error}", where=self.location
            ) from error
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            reason = str(getattr(error, "orig", error))
            hint = "it is not a SQLite file" if "not a database" in reason else reason
            raise StoreError("the store can't be used", hint, where=self.location) from error
        except msgspec.MsgspecError as error:
            raise StoreError(
                "the store holds something unreadable", str(error), where=self.location
            ) from error


def _run_from(run: str, started: float, total: int, done: int, settings: bytes, summary: bytes | None) -> Run:
    decoded = msgspec.json.decode(summary, type=Summary) if summary else None
    return Run(run, started, total, done, decode_settings(settings), decoded)


def _path_of(location: str) -> Path:
    scheme, separator, rest = location.partition("://")
    if not separator:
        return Path(location)
    if scheme != "sqlite":
        hint = "expected a path or sqlite:///PATH"
        raise UsageError(f"stores of the kind '{scheme}' are not supported", hint, where=location)
    return Path(rest.removeprefix("/"))


def _make_directory(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError("the store can't be made", error.strerror or str(error), where=str(path)) from error
