"""No question reads more than it has to: each finds its rows in an index and in the right order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from misstep.core.spending import Spent
from misstep.store.database import DatabaseConnection
from misstep.store.runs import Store
from tests.store.samples import new_run, outcome, renamed, summary

Question = Callable[[Store, str], object]

QUESTIONS: dict[str, tuple[Question, str]] = {
    "failed": (lambda store, run: next(store.outcomes(run, "failed")), "outcomes_by_verdict"),
    "errored": (lambda store, run: list(store.outcomes(run, "errored")), "outcomes_by_verdict"),
    "all": (lambda store, run: next(store.outcomes(run)), "outcomes_by_arrival"),
    "one": (lambda store, run: store.find_outcome(run, "case 17"), "one_outcome_per_case"),
    "some": (lambda store, run: store.fingerprints(run, ["case 17", "x"]), "one_outcome_per_case"),
}
INDEXES = {"sqlite_autoindex_outcomes_1": "one_outcome_per_case"}  # SQLite's own name for it


@pytest.fixture
def filled(store: Store) -> str:
    """The middle one of three runs; another run is finished, and most outcomes passed."""
    runs = [new_run(store) for _ in range(3)]
    sample = {name: outcome(1, name) for name in ("passed", "failed", "errored")}
    kinds = ["passed"] * 50 + ["failed", "errored"]
    for run in runs:
        with store.sit(run, 0.0) as writer:
            arrived = [renamed(sample[kinds[n % len(kinds)]], f"case {n}") for n in range(2000)]  # type: ignore[index]
            writer.keep(arrived, Spent())
    store.finish_run(runs[2], summary(runs[2]))
    with store._database.writing() as connection:
        connection.execute("ANALYZE")
    return runs[1]


@contextmanager
def overheard() -> Iterator[list[tuple[str, Any]]]:
    """Everything that is asked about outcomes."""
    said: list[tuple[str, Any]] = []
    run = DatabaseConnection._run

    def listen(self: DatabaseConnection, statement: str, values: Any) -> Any:
        if "outcomes" in statement:
            said.append((statement, values))
        return run(self, statement, values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseConnection, "_run", listen)
        yield said


def plan(store: Store, statement: str, parameters: Any) -> str:
    with store._database.reading() as connection:
        explain = "EXPLAIN" if "://" in store.location else "EXPLAIN QUERY PLAN"
        rows = connection.execute(f"{explain} {statement}", parameters)
    text = "\n".join(str(row[-1]) for row in rows)
    for given, meant in INDEXES.items():
        text = text.replace(given, meant)
    return text


@pytest.mark.parametrize("name", QUESTIONS)
def test_rows_are_found_in_an_index(store: Store, filled: str, name: str) -> None:
    ask, index = QUESTIONS[name]
    with overheard() as said:
        ask(store, filled)
    assert said
    for statement, parameters in said:
        found = plan(store, statement, parameters)
        assert index in found
        assert "SCAN outcomes" not in found
        assert "Seq Scan on outcomes" not in found
        assert "Seq Scan on records" not in found
        assert "TEMP B-TREE" not in found
        assert "Sort" not in found


def test_sums_never_read_documents(store: Store, filled: str) -> None:
    with overheard() as said:
        assert store.tally(filled).cases == 2000
        store.find_run(filled)
        store.list_runs()
    assert len(said) == 3
    for statement, parameters in said:
        found = plan(store, statement, parameters)
        assert "records" not in found
        assert "SCAN outcomes" not in found
        assert "TEMP B-TREE" not in found
