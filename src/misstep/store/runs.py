"""The store of runs: every outcome is stored as soon as it arrives."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from misstep.core.case import Case
from misstep.core.outcome import Judgement, Outcome, Usage
from misstep.core.results.finding import ToolReport
from misstep.core.results.label import Label
from misstep.core.results.summary import Run, Summary, Tally
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import Settings, StoreSettings, encode_settings
from misstep.core.spending import Spent
from misstep.errors import StoreError, UsageError
from misstep.store import queries
from misstep.store.database import Hold, Transactions, ensure_tables
from misstep.store.location import find_database, shown
from misstep.store.queries import DamagedRun, Dearest, check_parts, read_run
from misstep.store.rows import Digest, RunWriter, decode_outcome, decode_spent, encode, fingerprint, key_of
from misstep.store.tables import labels, odd, outcomes, records, runs, sessions, tool_reports
from misstep.store.trust import sign

__all__ = ["DamagedRun", "Digest", "Run", "RunWriter", "Store", "fingerprint"]

T = TypeVar("T")

_PAGE = 50  # outcomes in memory at a time
_DOCUMENTS = sa.select(outcomes.c.number, records.c.document).join_from(
    outcomes, records, records.c.outcome == outcomes.c.number
)
_PUT_LABEL = sa.text(
    "INSERT INTO labels (run, item, labeller, erroneous, at) VALUES (:run, :item, :labeller, :erroneous, :at)"
    " ON CONFLICT (run, item, labeller) DO UPDATE SET erroneous = excluded.erroneous, at = excluded.at"
)
_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no characters that look alike


class Store:
    """Runs in a database: a path, `sqlite:///PATH` or `postgresql://…`; `create` creates it if necessary.

    `location` can be shown: it never contains a password.
    """

    def __init__(self, location: str, create: bool = False) -> None:
        self._database = find_database(location)
        self.location = self._database.location
        self._transactions = Transactions(self._database)
        try:
            self._database.prepare(create)
            ensure_tables(self._transactions, create)
            with self._transactions.explained():
                self._database.settle()
        except BaseException:
            self._database.engine.dispose()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.engine.dispose()

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
        row = {"id": run, "started": started, "total": total, "settings": encode_settings(settings)}
        row |= {"name": settings.run_name, "tags": " ".join(settings.tags)}
        with self._transactions.writing() as connection:
            connection.execute(runs.insert(), {**row, "digest": digest, "purpose": encode(purpose)})
        about = settings.run_name, settings.tags
        return Run(run, started, total, 0, settings, None, digest, purpose, *about)

    def change_run(self, run: str, settings: StoreSettings) -> None:
        """Replace the settings of a run; the password of the store is not stored."""
        settings = settings.overlay({"store": shown(settings.store), "trust_store": False})
        with self._transactions.writing() as connection:
            change = runs.update().where(runs.c.id == run)
            connection.execute(change, {"settings": encode_settings(settings)})

    def name_run(self, run: str, name: str) -> None:
        with self._transactions.writing() as connection:
            connection.execute(runs.update().where(runs.c.id == run), {"name": name})

    def tag_run(self, run: str, tags: Sequence[str], remove: bool = False) -> None:
        """Add tags to a run, or remove them; those that others add meanwhile stay."""
        own = runs.c.id == run
        with self._transactions.writing() as connection:
            before = connection.scalar(sa.select(runs.c.tags).where(own).with_for_update()) or ""
            kept = [each for each in before.split() if each not in tags]
            after = kept if remove else [*kept, *dict.fromkeys(tags)]
            connection.execute(runs.update().where(own), {"tags": " ".join(after)})

    def remove_runs(self, names: Sequence[str]) -> None:
        """Delete runs with everything that belongs to them; `UsageError` if one is in progress."""
        with ExitStack() as stack:
            for run in names:
                with self._transactions.explained():
                    stack.enter_context(self._database.hold(run))
            with self._transactions.writing() as connection:
                for run in names:
                    number = self._number(connection, run)
                    own = sa.select(outcomes.c.number).where(outcomes.c.run == number)
                    connection.execute(records.delete().where(records.c.outcome.in_(own)))
                    for table in (outcomes, tool_reports, labels, sessions):
                        connection.execute(table.delete().where(table.c.run == number))
                    connection.execute(runs.delete().where(runs.c.number == number))

    def finish_run(self, run: str, summary: Summary, found: Sequence[object] = ()) -> None:
        """Finish a run; `found` are the results of its inquiries."""
        closing = {"summary": encode(summary), "result": encode(found) if found else None}
        with self._transactions.writing() as connection:
            connection.execute(runs.update().where(runs.c.id == run), closing)

    def find_result(self, run: str, kind: type[T]) -> list[T] | None:
        """The results of a finished run's inquiries."""
        with self._transactions.reading(run) as connection:
            stored = connection.scalar(sa.select(runs.c.result).where(runs.c.id == key_of(run)))
        if not stored:
            return None
        with self._transactions.explained(run):
            return msgspec.json.decode(stored, type=list[kind])  # type: ignore[valid-type]

    def list_runs(self) -> list[Run]:
        """All readable runs, newest first."""
        return [run for run in self.survey_runs() if isinstance(run, Run)]

    def survey_runs(self) -> list[Run | DamagedRun]:
        """All runs, newest first, including damaged ones."""
        return self._select_runs(sa.true())

    def find_run(self, name: str) -> Run:
        """The run with this id, name (the newest of several) or id prefix; `last` is the newest of all."""
        if name == "last":
            newest = sa.select(sa.func.max(runs.c.number)).scalar_subquery()
            found = self._select_runs(runs.c.number == newest)
        else:
            found = (
                self._select_runs(runs.c.id == key_of(name))
                or self._select_runs(sa.and_(runs.c.name == key_of(name), runs.c.name != ""))[:1]
                or self._select_runs(queries.begins(runs.c.id, name))
            )
        if len(found) == 1 and isinstance(found[0], DamagedRun):
            damaged = found[0]
            raise StoreError(f"run {damaged.id} is damaged", damaged.why, where=self.location)
        if len(found) == 1 and isinstance(found[0], Run):
            return found[0]
        if found:
            ids = ", ".join(run.id for run in found[:5])
            raise UsageError(f"'{name}' could be any of several runs", f"they are {ids}", where=self.location)
        raise self._no_run(name)

    @contextmanager
    def sit(self, run: str, started: float) -> Iterator[RunWriter]:
        """Open a session on a run; `UsageError` if another process works on it.

        The end of the session is always recorded, unless the process is killed.
        """
        with ExitStack() as stack:
            with self._transactions.explained():
                hold = stack.enter_context(self._database.hold(run))
            writer = self._take_writer(hold, run, started)
            try:
                yield writer
            except BaseException:
                with suppress(Exception):  # the original exception matters more
                    writer.leave()
                raise
            writer.leave()

    def is_held(self, run: str) -> bool:
        """Whether a process works on the run now."""
        with self._transactions.explained():
            return self._database.is_held(run)

    def holder(self, run: str) -> int:
        """The process that works on the run; 0 if unknown."""
        return self._database.holder(run)

    def died(self, run: str) -> bool:
        """Whether an earlier session has no recorded end because its process was killed."""
        open_ones = sa.select(sa.func.count()).where(sessions.c.ended.is_(None))
        with self._about(run) as (connection, number):
            count = connection.scalar(open_ones.where(sessions.c.run == number)) or 0
        return count > int(self.is_held(run))

    def spent(self, run: str) -> Spent:
        """What all sessions of the run have used."""
        with self._about(run) as (connection, number):
            found = connection.scalars(sa.select(sessions.c.spent).where(sessions.c.run == number))
            return sum(map(decode_spent, found), Spent())

    def dearest(self, run: str) -> Dearest:
        """The maximum that any case of the run has used of each resource."""
        c = outcomes.c
        columns = (c.input, c.output, c.input + c.output, c.calls, c.seconds)
        query = sa.select(*[sa.func.coalesce(sa.func.max(column), 0) for column in columns])
        inputs, outputs, tokens, calls, seconds = self._select_outcomes(run, query)[0]
        return Dearest(Usage(inputs, outputs), tokens, calls, seconds)

    def tally(self, run: str) -> Tally:
        """The tally of all outcomes of the run."""
        with self._about(run) as (connection, number):
            return queries.tally(connection, number)

    def tally_since(self, run: str, after: int = 0) -> tuple[Tally, int]:
        """The tally of outcomes after a number in order of arrival, and the number of the last."""
        with self._about(run) as (connection, number):
            newest = sa.select(sa.func.max(outcomes.c.number)).where(outcomes.c.run == number)
            last = connection.scalar(newest) or 0
            return queries.tally(connection, number, after, last), last

    def neighbours(self, run: str, case: str, order: Sequence[Judgement]) -> tuple[str | None, str | None]:
        """The previous and next case, ordered by verdict as given and then by arrival."""
        ranks = {verdict: rank for rank, verdict in enumerate(order)}
        columns = (outcomes.c.case_id, outcomes.c.verdict, outcomes.c.number)
        with self._about(run) as (connection, number):
            found = connection.execute(sa.select(*columns).where(outcomes.c.run == number)).all()
            rows = sorted(found, key=lambda row: (ranks.get(row.verdict, len(ranks)), row.number))
            names = [row.case_id for row in rows]
            if key_of(case) not in names:
                raise odd(names[0], f"the case {case!r}")
            place = names.index(key_of(case))
            documents = [
                connection.scalar(sa.select(records.c.document).where(records.c.outcome == rows[at].number))
                if 0 <= at < len(rows)
                else None
                for at in (place - 1, place + 1)
            ]
        before, behind = (self._decode(each, run).case.id if each else None for each in documents)
        return before, behind

    def fingerprints(self, run: str, cases: Sequence[str]) -> dict[str, bytes]:
        """Content digests of those of these cases (at most 500) that have an outcome."""
        names = {key_of(case): case for case in cases}
        query = sa.select(outcomes.c.case_id, outcomes.c.fingerprint)
        found = self._select_outcomes(run, query.where(outcomes.c.case_id.in_(list(names))))
        return {names[row.case_id]: row.fingerprint for row in found}

    def judgements(self, run: str) -> dict[bytes, bool]:
        """Whether each judged case passed, by a digest of its content."""
        judged = outcomes.c.verdict.in_(("passed", "failed"))
        query = sa.select(outcomes.c.fingerprint, outcomes.c.verdict).where(judged)
        return {row.fingerprint: row.verdict == "passed" for row in self._select_outcomes(run, query)}

    def outcomes(self, run: str, verdict: Judgement | None = None) -> Iterator[Outcome]:
        """A run's outcomes in order of arrival, loaded page by page."""
        wanted = _DOCUMENTS.where(outcomes.c.verdict == verdict) if verdict else _DOCUMENTS
        pages = wanted.order_by(outcomes.c.number).limit(_PAGE)
        last = 0
        # Page by page, so that no cursor stays open while they are processed.
        while page := self._select_outcomes(run, pages.where(outcomes.c.number > last)):
            last = page[-1].number
            for row in page:
                yield self._decode(row.document, run)

    def find_outcome(self, run: str, case: str) -> Outcome:
        """The outcome of the case with this id or id prefix."""
        some = _DOCUMENTS.limit(2)  # enough to know whether the match is unique
        found = self._select_outcomes(run, some.where(outcomes.c.case_id == key_of(case)))
        found = found or self._select_outcomes(run, some.where(queries.begins(outcomes.c.case_id, case)))
        if len(found) == 1:
            return self._decode(found[0].document, run)
        problem = f"'{case}' could be any of several cases" if found else f"there is no case '{case}'"
        raise UsageError(f"{problem} in run {run}", f"misstep show {run} lists them", where=self.location)

    def find_kept(self, run: str, case: Case) -> Outcome | None:
        """The run's outcome for a case with exactly this content, if any."""
        same = sa.and_(outcomes.c.case_id == key_of(case.id), outcomes.c.fingerprint == fingerprint(case))
        found = self._select_outcomes(run, _DOCUMENTS.where(same))
        return self._decode(found[0].document, run) if found else None

    def tool_reports(self, run: str) -> list[ToolReport]:
        """The tool reports of a fuzzing run, in order of completion."""
        return self.tool_documents(run, ToolReport)

    def tool_documents(self, run: str, kind: type[T]) -> list[T]:
        """A run's reports on tools, decoded as the type that its kind of run uses."""
        query = sa.select(tool_reports.c.document).order_by(tool_reports.c.number)
        with self._about(run) as (connection, number):
            found = list(connection.scalars(query.where(tool_reports.c.run == number)))
        with self._transactions.explained(run):
            documents = [msgspec.json.decode(document, type=kind) for document in found]
            for document in documents:
                check_parts(document)
            return documents

    def keep_label(self, run: str, label: Label) -> None:
        """Commit a person's label for an item of the run, replacing an earlier one."""
        keys = {"item": key_of(label.item), "labeller": key_of(label.labeller)}
        with self._transactions.writing() as connection:
            row = {"run": self._number(connection, run), "erroneous": label.erroneous, "at": label.at, **keys}
            connection.execute(_PUT_LABEL, row)

    def labels(self, run: str) -> list[Label]:
        """All labels, in the order in which items were first labelled; names are as `key_of` encodes them."""
        with self._about(run) as (connection, number):
            query = sa.select(labels).where(labels.c.run == number).order_by(labels.c.number)
            return [Label(row.item, row.labeller, row.erroneous, row.at) for row in connection.execute(query)]

    def _take_writer(self, hold: Hold, run: str, started: float) -> RunWriter:
        with self._transactions.writing() as connection:
            number = self._number(connection, run)
            row = {"run": number, "started": started, "spent": encode(Spent())}
            session = connection.scalar(sessions.insert().returning(sessions.c.number), row)
        return RunWriter(self._transactions, hold, number, session)

    def _select_runs(self, condition: sa.ColumnElement[bool]) -> list[Run | DamagedRun]:
        with self._transactions.reading() as connection:
            found = connection.execute(queries.select_runs(condition)).all()
            return [read_run(row, connection) for row in found]

    def _select_outcomes(self, run: str, query: sa.Select[Any]) -> Sequence[Any]:
        """The rows of a query on `outcomes` that belong to the run."""
        with self._about(run) as (connection, number):
            return connection.execute(query.where(outcomes.c.run == number)).all()

    def _decode(self, document: bytes, run: str) -> Outcome:
        with self._transactions.explained(run):
            return decode_outcome(document)

    @contextmanager
    def _about(self, run: str) -> Iterator[tuple[sa.Connection, int]]:
        """A connection for reading, and the run's number in the tables."""
        with self._transactions.reading(run) as connection:
            yield connection, self._number(connection, run)

    def _number(self, connection: sa.Connection, run: str) -> int:
        number: int | None = connection.scalar(sa.select(runs.c.number).where(runs.c.id == key_of(run)))
        if number is None:
            raise self._no_run(run)
        return number

    def _no_run(self, name: str) -> UsageError:
        return UsageError(f"there is no run '{name}'", "misstep runs lists them", where=self.location)
