"""What people say is kept at once, once for each item and person."""

import threading

import pytest

from misstep.core.results.label import Label
from misstep.errors import UsageError
from misstep.store.runs import Store
from tests.store.samples import ODD_NAMES, new_run


def test_labels_are_kept_apart_and_replaced(store: Store, store_location: str) -> None:
    run, other = new_run(store), new_run(store)
    said = [Label("a", "ann", True, 1.5), Label("b", "ann", False, 2.5), Label("a", "bob", False, 3.5)]
    for label in said:
        store.keep_label(run, label)
    store.keep_label(other, said[0])
    store.keep_label(run, Label("a", "ann", False, 9.5))
    with Store(store_location) as again:
        assert again.labels(run) == [Label("a", "ann", False, 9.5), *said[1:]]
        assert again.labels(other) == said[:1]


def test_odd_names_stay_apart(store: Store) -> None:
    run = new_run(store)
    for name in ODD_NAMES:
        store.keep_label(run, Label(name, name, True))
        store.keep_label(run, Label(name, name, False))
    kept = store.labels(run)
    assert len({(label.item, label.labeller) for label in kept}) == len(kept) == len(ODD_NAMES)
    assert not any(label.erroneous for label in kept)


def test_several_may_label_at_once(store: Store) -> None:
    run = new_run(store)

    def label(name: str) -> None:
        for number in range(10):
            store.keep_label(run, Label(str(number % 5), name, number >= 5))

    threads = [threading.Thread(target=label, args=[name]) for name in ("ann", "bob", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(label.item for label in store.labels(run) if label.labeller == "bob") == list("01234")
    assert {label.erroneous for label in store.labels(run) if label.labeller == "ann"} == {True}


def test_there_must_be_a_run(store: Store) -> None:
    with pytest.raises(UsageError, match="there is no run 'zzz'"):
        store.keep_label("zzz", Label("a", "ann", True))
    with pytest.raises(UsageError, match="there is no run 'zzz'"):
        store.labels("zzz")
