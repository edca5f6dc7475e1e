"""The forms in which sentences are built."""

from collections.abc import Iterator

from misstep.planning.language.remarks import Duty, Neighbours, Timed, TimedRelative
from misstep.planning.language.syntax import (
    Clause,
    Free,
    Group,
    Sentence,
    SubSentence,
)

LIST = "list"
JOINED = "joined sentence"
READING_ORDER = "reading order"
TIMES = {"verb": "time", "fronted": "fronted time", "relative": "relative time"}


def forms_of(sentence: Sentence) -> set[str]:
    """The names of the forms in a sentence; those of clauses are what the reader calls them."""
    found = {form for part in sentence.parts for form in _part_forms(part)}
    return found | {JOINED} if sentence.joins else found


def _part_forms(part: SubSentence) -> Iterator[str]:
    match part:
        case Clause(form, _, subject, object_):
            yield form
            yield from _group_forms(subject)
            yield from _group_forms(object_)
        case Free(subject):
            yield from _group_forms(subject)
        case Timed(form, _, _, _, actions):
            yield TIMES[form]
            yield from _group_forms(Group(actions))
        case Duty(actions):
            yield from _group_forms(Group(actions))
        case Neighbours(form):
            yield f"adjacent {form}"


def _group_forms(group: Group) -> Iterator[str]:
    if len(group.actions) > 1:
        yield LIST
    relative = group.relative
    if isinstance(relative, TimedRelative):
        yield TIMES["relative"]
    elif relative:
        yield f"relative {relative.form}"
        yield from _group_forms(relative.object)
