"""What of a stored run is labelled, and by whom."""

from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.label.run import check_labeller, find_items, open_labelling, view_labels
from misstep.store.runs import Store
from tests.features.consistency.stored_run import HIDDEN, keep_run, keep_sets, report_on_tool
from tests.store.samples import new_run


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=str(tmp_path / "store.db"))


def test_what_was_judged_can_be_labelled(settings: Settings) -> None:
    run = keep_run(settings.store)
    with Store(settings.store) as store:
        items = find_items(store, store.find_run(run))
    assert len(items) == 12
    assert sum(item.discovered for item in items) == 6
    for item in items:
        assert [trial.request for trial in item.trials] == [
            trial.request for trial in item.trials if item.tool in trial.request
        ]
        assert "SECRET-ERROR" not in repr(item.trials)
        assert not any(word in item.id for word in HIDDEN)


def test_everybody_gets_the_same_items_and_goes_on_where_they_stopped(settings: Settings) -> None:
    run = keep_run(settings.store)
    with open_labelling(settings, "last", "ann") as labelling:
        mine = labelling.items
        assert (labelling.run, labelling.find_open(), labelling.find_open(4)) == (run, 0, 5)
        labelling.keep(0, True)
        labelling.keep(1, False)
        labelling.keep(1, True)
    with open_labelling(settings, run[:4], "bob") as labelling:
        assert labelling.items == mine
        assert labelling.answers() == {}
        labelling.keep(0, False)
    with open_labelling(settings, run, "ann") as labelling:
        assert labelling.answers() == {mine[0].id: True, mine[1].id: True}
        assert labelling.find_open() == 2
        (agreement,) = labelling.report().agreements
        assert [each.item for each in agreement.disagreements] == [mine[0].id]


def test_labels_of_a_larger_draw_count(settings: Settings) -> None:
    with Store(settings.store, create=True) as store:
        run = keep_sets(store, [report_on_tool("moon", 9, 9)])
    with open_labelling(settings, run, "ann", 6) as labelling:
        for place in range(len(labelling.items)):
            labelling.keep(place, True)
    assert len(labelling.items) == 9
    report = view_labels(settings, run, 2)
    assert (report.items, report.discovered) == (9, 6)
    assert report.opinions[0].score.false_discoveries.total == 6
    assert report.opinions[0].score.missed.count == 3


def test_a_run_of_another_kind_has_nothing_to_label(settings: Settings) -> None:
    with Store(settings.store, create=True) as store:
        new_run(store)
    with pytest.raises(UsageError, match="has nothing to label"), open_labelling(settings, "last", "ann"):
        pass


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "a\\b", "x" * 61, "\ud800", "\u202e"])
def test_names_that_would_not_do_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="invalid"):
        check_labeller(name)


def test_names_in_any_script_will_do() -> None:
    assert check_labeller("Zoë 雪") == "Zoë 雪"
