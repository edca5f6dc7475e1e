"""Labelling: people say which discoveries of a run are wrong, without seeing its verdicts."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from misstep.core.results.consistency import ConsistencyReport, set_id
from misstep.core.results.finding import RUNTIME_ERRORS
from misstep.core.results.fuzzing import ReachAttempt, ToolReport
from misstep.core.results.label import PER_TOOL, Item, Label, LabelReport, draw_items, report_on
from misstep.core.results.trial import Trial
from misstep.core.settings import StoreSettings
from misstep.errors import UsageError
from misstep.store.runs import Run, Store

LONGEST_NAME = 60


class Labelling:
    """The items that one person labels, and their labels; each label is stored at once."""

    def __init__(self, store: Store, run: str, items: Sequence[Item], labeller: str) -> None:
        self.run, self.items, self.labeller = run, tuple(items), labeller
        self._store = store
        self._ids = {item.id for item in items}

    def answers(self) -> dict[str, bool]:
        """The labels of this person so far, by item id."""
        labels = [label for label in self._store.labels(self.run) if label.labeller == self.labeller]
        return {label.item: label.erroneous for label in labels if label.item in self._ids}

    def keep(self, place: int, erroneous: bool) -> None:
        label = Label(self.items[place].id, self.labeller, erroneous, time.time())
        self._store.keep_label(self.run, label)

    def find_open(self, after: int = -1) -> int | None:
        """The index of the first unlabelled item after another."""
        said = self.answers()
        places = range(after + 1, len(self.items))
        return next((place for place in places if self.items[place].id not in said), None)

    def report(self) -> LabelReport:
        return report_on(self.run, self.items, self._store.labels(self.run))


@contextmanager
def open_labelling(
    settings: StoreSettings, name: str, labeller: str, per_tool: int = PER_TOOL
) -> Iterator[Labelling]:
    """The items of a run to label: up to `per_tool` discoveries of each tool, and some that passed.

    Everybody gets the same items in the same order.
    """
    check_labeller(labeller)
    with Store(settings.store) as store:
        run = store.find_run(name)
        items = draw_items(find_items(store, run), run.settings.seed, per_tool)
        yield Labelling(store, run.id, items, labeller)


def view_labels(settings: StoreSettings, name: str, per_tool: int = PER_TOOL) -> LabelReport:
    """The results of all labels of a run, including those made with another `per_tool`."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        items, labels = find_items(store, run), store.labels(run.id)
        drawn = draw_items(items, run.settings.seed, per_tool)
        wanted = {label.item for label in labels} | {item.id for item in drawn}
        return report_on(run.id, [item for item in items if item.id in wanted], labels)


def can_be_labelled(settings: StoreSettings, run: Run) -> bool:
    find = _FINDERS.get(run.purpose.verb)
    if not find:
        return False
    with Store(settings.store) as store:
        return bool(find(store, run.id))


def find_items(store: Store, run: Run) -> list[Item]:
    """All items of a run that can be labelled: those it calls wrong, and those it does not.

    A `UsageError` if there are none. Items that it could not judge are left out.
    """
    find = _FINDERS.get(run.purpose.verb)
    items = find(store, run.id) if find else []
    if not items:
        hint = "expected a run of misstep tool consistency, or of tool fuzz --agent, with judged requests"
        raise UsageError(f"run {run.id} has nothing to label", hint, where=store.location)
    return list({item.id: item for item in items}.values())


def check_labeller(name: str) -> str:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or "\\" in name:
        hint = f"expected a name of up to {LONGEST_NAME} printable characters, without a backslash"
        raise UsageError(f"invalid name {name[:LONGEST_NAME]!r}", hint, where="--labeller")
    return name


def _items_of_sets(store: Store, run: str) -> list[Item]:
    found = list[Item]()
    for report in store.tool_documents(run, ConsistencyReport):
        for each in report.sets:
            usable = tuple(trial for trial in each.trials if trial.is_usable)
            if usable and each.verdict in ("passed", "failed"):
                found.append(Item(each.id, report.name, usable, each.verdict == "failed"))
    return found


def _items_of_trials(store: Store, run: str) -> list[Item]:
    """Every usable trial in which a tool was called, as its own item."""
    reports = store.tool_documents(run, ToolReport)
    return [
        Item(set_id(report.name, [trial.request]), report.name, (trial,), _is_discovery(passage, trial))
        for report in reports
        for passage in (report.journey.passages if report.journey else ())
        for trial in passage.trials
        if trial.is_usable and trial.uses
    ]


def _is_discovery(passage: ReachAttempt, trial: Trial) -> bool:
    if passage.matter == "refusal" and passage.fate == "reached" and trial is passage.trials[-1]:
        return True
    return any(use.judged.ruling in RUNTIME_ERRORS for use in trial.uses)


_FINDERS: dict[str, Callable[[Store, str], list[Item]]] = {
    "consistency": _items_of_sets,
    "fuzz": _items_of_trials,
}
