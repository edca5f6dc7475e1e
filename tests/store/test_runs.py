"""The store: what goes in comes out, from every kind of database."""

import threading
from itertools import islice

import msgspec
import pytest

from misstep.core.outcome import JUDGEMENTS
from misstep.core.results.summary import Tally
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.errors import UsageError
from misstep.store.runs import Store, fingerprint
from tests.store.samples import ODD_NAMES, SETTINGS, new_run, outcome, renamed, summary


def test_a_run_comes_back_as_it_was(store: Store) -> None:
    run = new_run(store, 3, 1000.5)
    outcomes = [outcome(1), outcome(2, "failed", "order"), outcome(3, "errored")]
    with store.sit(run, 1000.5) as writer:
        assert writer.keep(outcomes, Spent()) == [True, True, True]
    found = store.find_run(run)
    assert (found.settings, found.total, found.done) == (SETTINGS, 3, 3)
    assert (found.started, found.summary) == (1000.5, None)
    assert list(store.outcomes(run)) == outcomes
    assert list(store.outcomes(run, "failed")) == outcomes[1:2]
    store.finish_run(run, summary(run))
    assert store.find_run(run).summary == summary(run)


def test_it_is_all_there_after_reopening(store_location: str) -> None:
    with Store(store_location, create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            writer.keep([outcome(1)], Spent())
    for create in (False, True):
        with Store(store_location, create=create) as store:
            assert store.find_outcome(run, outcome(1).case.id) == outcome(1)


def test_a_finished_run_has_done_what_its_summary_says(store: Store) -> None:
    run = new_run(store, 5)
    tally = Tally()
    for number in range(5):
        tally.add(outcome(number))
    store.finish_run(run, tally.summary(run, "sim:perfect"))
    assert [found.done for found in store.list_runs()] == [5]


def test_outcomes_come_in_the_order_of_arrival_page_after_page(store: Store) -> None:
    run, other = new_run(store), new_run(store)
    arrived = [outcome(number, JUDGEMENTS[number % 4]) for number in (*range(200, 100, -1), *range(100))]
    with store.sit(run, 0.0) as writer, store.sit(other, 0.0) as neighbour:
        for start in range(0, 200, 7):
            writer.keep(arrived[start : start + 7], Spent())
            neighbour.keep(arrived[start : start + 3], Spent())
    assert list(store.outcomes(run)) == arrived
    assert list(store.outcomes(run, "errored")) == [o for o in arrived if o.verdict.verdict == "errored"]
    assert list(islice(store.outcomes(run), 60)) == arrived[:60]


def test_outcomes_can_be_read_while_others_arrive(store: Store) -> None:
    run = new_run(store)
    arrived = [outcome(number) for number in range(120)]
    with store.sit(run, 0.0) as writer:
        writer.keep(arrived[:60], Spent())
        reading = store.outcomes(run)
        first = next(reading)
        writer = threading.Thread(target=writer.keep, args=(arrived[60:], Spent()))
        writer.start()
        writer.join()
        assert [first, *reading] == arrived


def test_runs_are_found_by_prefix_and_as_last(store: Store) -> None:
    ids = [new_run(store, started=float(i)) for i in range(40)]
    assert [run.id for run in store.list_runs()] == ids[::-1]
    assert store.find_run("last").id == ids[-1]
    assert store.find_run(ids[7][:6]).id == ids[7]
    with pytest.raises(UsageError, match="could be any of several runs"):
        store.find_run("")
    for name in ("nope!", "%", "_", "a\0b", "\udcff"):
        with pytest.raises(UsageError, match="there is no run"):
            store.find_run(name)


def test_cases_are_found_by_prefix(store: Store) -> None:
    run = new_run(store)
    with store.sit(run, 0.0) as writer:
        writer.keep([outcome(number) for number in range(30)], Spent())
    assert store.find_outcome(run, outcome(3).case.id[:9]) == outcome(3)
    with pytest.raises(UsageError, match="could be any of several cases"):
        store.find_outcome(run, "")
    for name in ("zzz", "%", "\udcff"):
        with pytest.raises(UsageError, match="there is no case"):
            store.find_outcome(run, name)


def test_an_exact_name_wins_over_a_beginning(store: Store) -> None:
    run = new_run(store)
    names = ("case1", "case10", "CASE1")
    with store.sit(run, 0.0) as writer:
        writer.keep([renamed(outcome(1), name) for name in names], Spent())
    assert [store.find_outcome(run, name).case.id for name in names] == list(names)
    assert store.find_outcome(run, "CAS").case.id == "CASE1"


def test_any_name_of_a_case_will_do(store: Store) -> None:
    run = new_run(store)
    cases = [renamed(outcome(1), name) for name in ODD_NAMES]
    with store.sit(run, 0.0) as writer:
        assert writer.keep(cases, Spent()) == [True] * len(ODD_NAMES)
        assert writer.keep(cases, Spent()) == [False] * len(ODD_NAMES)
    assert [found.case.id for found in store.outcomes(run)] == list(ODD_NAMES)
    assert [store.find_outcome(run, name) for name in ODD_NAMES] == cases
    digests = {name: fingerprint(case.case) for name, case in zip(ODD_NAMES, cases, strict=True)}
    assert store.fingerprints(run, [*ODD_NAMES, "other"]) == digests


def test_a_fingerprint_tells_every_change_of_a_case() -> None:
    case = outcome(1).case
    changes = ({"seed": case.seed + 1}, {"query": "?"}, {"chance": None}, {"witness": ()}, {"id": "x"})
    changed = [msgspec.structs.replace(case, **change) for change in changes]
    assert len({fingerprint(each) for each in (case, *changed)}) == 1 + len(changes)


def test_fingerprints_of_one_run_are_not_those_of_another(store: Store) -> None:
    run, other = new_run(store), new_run(store)
    with store.sit(run, 0.0) as writer:
        writer.keep([outcome(1)], Spent())
    case = outcome(1).case
    assert store.fingerprints(run, [case.id]) == {case.id: fingerprint(case)}
    assert store.fingerprints(other, [case.id]) == {}
    assert store.fingerprints(run, []) == {}


def test_a_run_that_is_not_there(store: Store) -> None:
    for ask in (store.tally, store.spent, store.died, lambda run: list(store.outcomes(run))):
        with pytest.raises(UsageError, match="there is no run 'nowhere'"):
            ask("nowhere")
    with pytest.raises(UsageError, match="there is no run 'nowhere'"), store.sit("nowhere", 0.0):
        pass


def test_two_stores_can_share_a_place(store_location: str) -> None:
    with Store(store_location, create=True) as one, Store(store_location, create=True) as other:
        runs = [new_run(one), new_run(other)]
        with one.sit(runs[0], 0.0) as left, other.sit(runs[1], 0.0) as right:
            for number in range(9):
                left.keep([outcome(number)], Spent())
                right.keep([outcome(number)], Spent())
        assert [run.done for run in one.list_runs()] == [9, 9]


def test_finished_runs_and_others_are_listed_side_by_side(store: Store) -> None:
    ids = [new_run(store) for _ in range(30)]
    for run in ids[::2]:
        store.finish_run(run, summary(run))
    assert [bool(run.summary) for run in store.list_runs()] == [False, True] * 15


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("postgresql://u:hunter2@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgres://h/d?user=u&password=hunter2", "postgres://h/d?user=u"),
        ("postgresql://u:hunter2@x@h/d", "postgresql://…"),
        ("postgresql://u:x@hunter2:hunter2/d", "postgresql://…"),
        ("mysql://u:hunter2@h/d", "mysql://u@h/d"),
        ("some/place.db", "some/place.db"),
        ("sqlite:///a:b@c.db", "sqlite:///a:b@c.db"),
    ],
)
def test_settings_are_kept_without_a_password(store: Store, given: str, kept: str) -> None:
    run = store.add_run(Settings(store=given), 1, 0.0)
    assert run.settings.store == kept
    assert store.find_run(run.id) == run


def test_no_outcome_is_larger_than_it_needs_to_be() -> None:
    assert len(msgspec.json.encode(outcome(1))) < 4_000


def test_runs_are_named_tagged_and_removed(store: Store) -> None:
    first, second = new_run(store, 1, 1.0), new_run(store, 1, 2.0)
    for run in (first, second):
        with store.sit(run, 1.0) as writer:
            writer.keep([outcome(1)], Spent())
    store.name_run(first, "nightly")
    store.tag_run(first, ["b", "a"])
    store.tag_run(first, ["b"], remove=True)
    found = store.find_run("nightly")
    assert (found.id, found.name, found.tags) == (first, "nightly", ("a",))
    with store.sit(second, 3.0), pytest.raises(UsageError, match="in progress"):
        store.remove_runs([first, second])
    assert {run.id for run in store.list_runs()} == {first, second}
    store.remove_runs([first])
    assert [run.id for run in store.list_runs()] == [second]
    assert [each.case.id for each in store.outcomes(second)] == [outcome(1).case.id]
    with pytest.raises(UsageError, match="there is no run"):
        store.find_run(first)
