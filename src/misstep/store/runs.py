"""The store of runs: every outcome is stored as soon as it arrives."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Judgement, Outcome, Usage
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.label import Label
from misstep.core.results.summary import Run, Summary, Tally
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import Settings, StoreSettings
from misstep.core.settings.reading import encode_settings
from misstep.core.spending import Spent
from misstep.errors import StoreError, UsageError
from misstep.store import rows
from misstep.store.database import DatabaseConnection, ensure_tables
from misstep.store.location import find_database, shown
from misstep.store.rows import DamagedRun, Digest, RunWriter, encode, fingerprint, key_of
from misstep.store.tables import odd
from misstep.store.trust import sign

__all__ = ["DamagedRun", "Digest", "Run", "RunWriter", "Store", "fingerprint"]

T = TypeVar("T")

_PAGE = 50  # outcomes in memory at a time
_DOCUMENTS = """
SELECT outcomes.number, records.document FROM outcomes JOIN records ON records.outcome = outcomes.number
WHERE outcomes.run = ?"""
_PUT_LABEL = """
INSERT INTO labels (run, item, labeller, erroneous, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, item, labeller) DO UPDATE SET erroneous = excluded.erroneous, at = excluded.at"""
_DEAREST = """
SELECT coalesce(max(input), 0) AS input, coalesce(max(output), 0) AS output,
  coalesce(max(input + output), 0) AS tokens, coalesce(max(calls), 0) AS calls,
  coalesce(max(seconds), 0) AS seconds
FROM outcomes WHERE run = ?"""
_BEGINS = "substr({}, 1, ?) = ?"  # by exact characters; LIKE differs between databases
_TABLES_OF_RUNS = ("outcomes", "tool_reports", "labels", "sittings")
_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no characters that look alike


class Store:
    """Runs in a database: a path, `sqlite:///PATH` or `postgresql://…`; `create` creates it if necessary."""

    def __init__(self, location: str, create: bool = False) -> None:
        self._database = find_database(location)
        self.location = self._database.location
        try:
            self._database.prepare(create)
            ensure_tables(self._database, create)
            with self._database.explained():
                self._database.settle()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add_run(
        self,
        given: StoreSettings,
        total: int,
        started: float,
        digest: bytes = b"",
        purpose: RunSpec = TESTING,
    ) -> Run:
        """Create a run with these settings; the password of the store is not stored."""
        settings = Settings(**{**vars(given), "store": shown(given.store), "trust_store": False})
        run = secrets.choice(_ALPHABET[8:]) + "".join(secrets.choice(_ALPHABET) for _ in range(5))
        purpose = msgspec.structs.replace(purpose, signature=sign(run, settings, purpose))
        row = {
            "id": run,
            "started": started,
            "total": total,
            "settings": encode_settings(settings),
            "name": settings.run_name,
            "tags": " ".join(settings.tags),
            "digest": digest,
            "purpose": encode(purpose),
        }
        insert = f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' for _ in row)})"
        with self._database.writing() as connection:
            connection.execute(insert, list(row.values()))
        about = settings.run_name, settings.tags
        return Run(run, started, total, 0, settings, None, digest, purpose, *about)

    def change_run(self, run: str, settings: StoreSettings) -> None:
        """Replace the settings of a run; the password of the store is not stored."""
        settings = settings.overlay({"store": shown(settings.store), "trust_store": False})
        self._update_run(run, settings=encode_settings(settings))

    def name_run(self, run: str, name: str) -> None:
        self._update_run(run, name=name)

    def tag_run(self, run: str, tags: Sequence[str], remove: bool = False) -> None:
        """Add tags to a run, or remove them; those that others add meanwhile stay."""
        with self._database.writing() as connection:
            # An update, so that the row is locked until the end.
            before = connection.scalar("UPDATE runs SET tags = tags WHERE id = ? RETURNING tags", (run,))
            kept = [each for each in (before or "").split() if each not in tags]
            after = kept if remove else [*kept, *dict.fromkeys(tags)]
            connection.execute("UPDATE runs SET tags = ? WHERE id = ?", (" ".join(after), run))

    def remove_runs(self, names: Sequence[str]) -> None:
        """Delete runs with everything that belongs to them; `UsageError` if one is in progress."""
        with ExitStack() as stack:
            for run in names:
                with self._database.explained():
                    stack.enter_context(self._database.hold(run))
            with self._database.writing() as connection:
                for run in names:
                    number = (self._number(connection, run),)
                    own = "SELECT number FROM outcomes WHERE run = ?"
                    connection.execute(f"DELETE FROM records WHERE outcome IN ({own})", number)
                    for table in _TABLES_OF_RUNS:
                        connection.execute(f"DELETE FROM {table} WHERE run = ?", number)
                    connection.execute("DELETE FROM runs WHERE number = ?", number)

    def finish_run(self, run: str, summary: Summary, found: Sequence[object] = ()) -> None:
        """Finish a run; `found` are the results of its inquiries."""
        self._update_run(run, summary=encode(summary), result=encode(found) if found else None)

    def find_result(self, run: str, kind: type[T]) -> list[T] | None:
        with self._database.reading(run) as connection:
            stored = connection.scalar("SELECT result FROM runs WHERE id = ?", (key_of(run),))
        if not stored:
            return None
        with self._database.explained(run):
            return msgspec.json.decode(stored, type=list[kind])  # type: ignore[valid-type]

    def list_runs(self) -> list[Run]:
        """All readable runs, newest first."""
        return [run for run in self.survey_runs() if isinstance(run, Run)]

    def survey_runs(self) -> list[Run | DamagedRun]:
        """All runs, newest first, including damaged ones."""
        return self._select_runs("true")

    def find_run(self, name: str) -> Run:
        """The run with this id, name (the newest of several) or id prefix; `last` is the newest of all."""
        if name == "last":
            found = self._select_runs("number = (SELECT max(number) FROM runs)")
        else:
            key = key_of(name)
            found = (
                self._select_runs("id = ?", key)
                or self._select_runs("name = ? AND name <> ''", key)[:1]
                or self._select_runs(_BEGINS.format("id"), len(key), key)
            )
        match found:
            case []:
                raise self._no_run(name)
            case [Run() as run]:
                return run
            case [DamagedRun(run, why)]:
                raise StoreError(f"run {run} is damaged", why, where=self.location)
        ids = ", ".join(run.id for run in found[:5])
        raise UsageError(f"'{name}' could be any of several runs", f"they are {ids}", where=self.location)

    @contextmanager
    def sit(self, run: str, started: float) -> Iterator[RunWriter]:
        """Open a session on a run, whose end is recorded; `UsageError` if another process works on it."""
        with ExitStack() as stack:
            with self._database.explained():
                hold = stack.enter_context(self._database.hold(run))
            with self._database.writing() as connection:
                number = self._number(connection, run)
                insert = "INSERT INTO sittings (run, started, spent) VALUES (?, ?, ?) RETURNING number"
                session = connection.scalar(insert, (number, started, encode(Spent())))
            writer = RunWriter(self._database, hold, number, session)
            try:
                yield writer
            except BaseException:
                with suppress(Exception):  # the original exception matters more
                    writer.leave()
                raise
            writer.leave()

    def is_held(self, run: str) -> bool:
        with self._database.explained():
            return self._database.is_held(run)

    def holder(self, run: str) -> int:
        """The process that works on the run; 0 if unknown."""
        return self._database.holder(run)

    def died(self, run: str) -> bool:
        """Whether an earlier session has no recorded end because its process was killed."""
        unended = self._select(run, "SELECT number FROM sittings WHERE run = ? AND ended IS NULL")
        return len(unended) > int(self.is_held(run))

    def spent(self, run: str) -> Spent:
        with self._about(run) as (connection, number):
            found = connection.scalars("SELECT spent FROM sittings WHERE run = ?", (number,))
            return sum(map(rows.decode_spent, found), Spent())

    def dearest(self, run: str) -> rows.Dearest:
        """The maximum that any case of the run has used of each resource."""
        (most,) = self._select(run, _DEAREST)
        return rows.Dearest(Usage(most.input, most.output), most.tokens, most.calls, most.seconds)

    def tally(self, run: str) -> Tally:
        with self._about(run) as (connection, number):
            return rows.tally(connection, number)

    def tally_since(self, run: str, after: int = 0) -> tuple[Tally, int]:
        """The tally of outcomes after a number in order of arrival, and the number of the last."""
        with self._about(run) as (connection, number):
            newest = "SELECT max(number) AS number FROM outcomes WHERE run = ?"
            last = connection.scalar(newest, (number,)) or 0
            return rows.tally(connection, number, after, last), last

    def neighbours(self, run: str, case: str, order: Sequence[Judgement]) -> tuple[str | None, str | None]:
        """The previous and next case, ordered by verdict as given and then by arrival."""
        ranks = {verdict: rank for rank, verdict in enumerate(order)}
        with self._about(run) as (connection, number):
            query = "SELECT case_id, verdict, number FROM outcomes WHERE run = ?"
            found = connection.select(query, (number,))
            ordered = sorted(found, key=lambda row: (ranks.get(row.verdict, len(ranks)), row.number))
            names = [row.case_id for row in ordered]
            if key_of(case) not in names:
                raise odd(names[0], f"the case {case!r}")
            place = names.index(key_of(case))
            query = "SELECT document FROM records WHERE outcome = ?"
            sides = [ordered[at] if 0 <= at < len(ordered) else None for at in (place - 1, place + 1)]
            documents = [connection.scalar(query, (row.number,)) if row else None for row in sides]
        before, behind = (self._decode(each, run).case.id if each else None for each in documents)
        return before, behind

    def fingerprints(self, run: str, cases: Sequence[str]) -> dict[str, bytes]:
        """Content digests of those of these cases (at most 500) that have an outcome."""
        names = {key_of(case): case for case in cases}
        wanted = ", ".join("?" for _ in names) or "NULL"
        query = f"SELECT case_id, fingerprint FROM outcomes WHERE run = ? AND case_id IN ({wanted})"
        return {names[row.case_id]: row.fingerprint for row in self._select(run, query, *names)}

    def judgements(self, run: str) -> dict[bytes, bool]:
        """Whether each judged case passed, by a digest of its content."""
        query = "SELECT fingerprint, verdict FROM outcomes WHERE run = ? AND verdict IN ('passed', 'failed')"
        return {row.fingerprint: row.verdict == "passed" for row in self._select(run, query)}

    def outcomes(self, run: str, verdict: Judgement | None = None) -> Iterator[Outcome]:
        """A run's outcomes in order of arrival, loaded page by page."""
        wanted = f"{_DOCUMENTS} AND verdict = ?" if verdict else _DOCUMENTS
        pages = f"{wanted} AND outcomes.number > ? ORDER BY outcomes.number LIMIT {_PAGE}"
        last = 0
        # Page by page, so that no cursor stays open while they are processed.
        while page := self._select(run, pages, *([verdict] if verdict else []), last):
            last = page[-1].number
            for row in page:
                yield self._decode(row.document, run)

    def find_outcome(self, run: str, case: str) -> Outcome:
        """The outcome of the case with this id or id prefix."""
        key = key_of(case)
        some = f"{_DOCUMENTS} AND {{}} LIMIT 2"  # enough to know whether the match is unique
        found = self._select(run, some.format("case_id = ?"), key)
        found = found or self._select(run, some.format(_BEGINS.format("case_id")), len(key), key)
        if len(found) == 1:
            return self._decode(found[0].document, run)
        problem = f"'{case}' could be any of several cases" if found else f"there is no case '{case}'"
        raise UsageError(f"{problem} in run {run}", f"misstep show {run} lists them", where=self.location)

    def find_kept(self, run: str, case: Case) -> Outcome | None:
        """The run's outcome for a case with exactly this content, if any."""
        same = f"{_DOCUMENTS} AND case_id = ? AND fingerprint = ?"
        found = self._select(run, same, key_of(case.id), fingerprint(case))
        return self._decode(found[0].document, run) if found else None

    def tool_reports(self, run: str) -> list[ToolReport]:
        return self.tool_documents(run, ToolReport)

    def tool_documents(self, run: str, kind: type[T]) -> list[T]:
        """A run's reports on tools, decoded as the type that its kind of run uses."""
        found = self._select(run, "SELECT document FROM tool_reports WHERE run = ? ORDER BY number")
        with self._database.explained(run):
            documents = [msgspec.json.decode(row.document, type=kind) for row in found]
            for document in documents:
                rows.check_parts(document)
            return documents

    def keep_label(self, run: str, label: Label) -> None:
        """Commit a person's label for an item of the run, replacing an earlier one."""
        values = (key_of(label.item), key_of(label.labeller), label.erroneous, label.at)
        with self._database.writing() as connection:
            connection.execute(_PUT_LABEL, (self._number(connection, run), *values))

    def labels(self, run: str) -> list[Label]:
        """All labels, in the order in which items were first labelled; names are as `key_of` encodes them."""
        query = "SELECT item, labeller, erroneous, at FROM labels WHERE run = ? ORDER BY number"
        return [Label(*row) for row in self._select(run, query)]

    def _update_run(self, run: str, **values: object) -> None:
        changes = ", ".join(f"{name} = ?" for name in values)
        with self._database.writing() as connection:
            connection.execute(f"UPDATE runs SET {changes} WHERE id = ?", (*values.values(), run))

    def _select_runs(self, condition: str, *values: object) -> list[Run | DamagedRun]:
        with self._database.reading() as connection:
            return rows.select_runs(connection, condition, values)

    def _select(self, run: str, query: str, *values: object) -> list[Any]:
        """The rows of a query whose first value is the run's number."""
        with self._about(run) as (connection, number):
            return connection.select(query, (number, *values))

    def _decode(self, document: bytes, run: str) -> Outcome:
        with self._database.explained(run):
            return rows.decode_outcome(document)

    @contextmanager
    def _about(self, run: str) -> Iterator[tuple[DatabaseConnection, int]]:
        """A connection for reading, and the run's number in the tables."""
        with self._database.reading(run) as connection:
            yield connection, self._number(connection, run)

    def _number(self, connection: DatabaseConnection, run: str) -> int:
        number: int | None = connection.scalar("SELECT number FROM runs WHERE id = ?", (key_of(run),))
        if number is None:
            raise self._no_run(run)
        return number

    def _no_run(self, name: str) -> UsageError:
        return UsageError(f"there is no run '{name}'", "misstep runs lists them", where=self.location)
