"""Labels, of the repository as of issues."""

from collections.abc import Iterable

from misstep.benchmarks.forge.rest.answers import Answer, invalid, not_found
from misstep.benchmarks.forge.rest.call import Call
from misstep.benchmarks.forge.state import Label


def add_labels(call: Call, names: list[str]) -> None:
    """Labels that nobody has made yet come into being when they are used."""
    for name in names:
        if not name.strip():
            raise invalid("Label", "name")
        if name not in call.ledger.labels:
            call.ledger.label(Label(name))


def list_labels(call: Call) -> Answer:
    return Answer([call.views.label(each) for each in call.ledger.labels.values()], is_list=True)


def get_label(call: Call) -> Answer:
    label = call.ledger.labels.get(call.place["name"])
    if label is None:
        raise not_found()
    return Answer(call.views.label(label))


def create_label(call: Call) -> Answer:
    name = call.text("name")
    if name in call.ledger.labels:
        raise invalid("Label", "name", "already_exists")
    add_labels(call, [name])
    label = Label(name, call.text_or("color", "ededed"), call.text_or("description", ""))
    return Answer(call.views.label(call.ledger.label(label)), 201)


def list_issue_labels(call: Call) -> Answer:
    return Answer(call.views.labels(call.thread().labels), is_list=True)


def add_issue_labels(call: Call) -> Answer:
    new = call.texts("labels") or []
    add_labels(call, new)
    return _relabel(call, dict.fromkeys((*call.thread().labels, *new)))


def set_issue_labels(call: Call) -> Answer:
    new = call.texts("labels") or []
    add_labels(call, new)
    return _relabel(call, new)


def remove_issue_label(call: Call) -> Answer:
    name, had = call.place["name"], call.thread().labels
    if name not in had:
        raise not_found("Label does not exist")
    return _relabel(call, [each for each in had if each != name])


def remove_issue_labels(call: Call) -> Answer:
    _relabel(call, [])
    return Answer(status=204)


def _relabel(call: Call, names: Iterable[str]) -> Answer:
    thread = call.ledger.change(call.thread(), labels=tuple(names))
    return Answer(call.views.labels(thread.labels))
