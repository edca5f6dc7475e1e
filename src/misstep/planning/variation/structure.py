"""The forms in which sentences are built, and what keeps them clear."""

from collections.abc import Iterator

from misstep.planning.language.remarks import Duty, Neighbours, Timed, TimedRelative
from misstep.planning.language.syntax import (
    OBJECT_LAST,
    Clause,
    Free,
    Group,
    Pronouns,
    Sentence,
    SubSentence,
    most_actions,
    spoken_order,
)

LIST = "list"
JOINED = "joined sentence"
READING_ORDER = "reading order"
TIMES = {"verb": "time", "fronted": "fronted time", "relative": "relative time"}


def forms_of(sentence: Sentence) -> set[str]:
    """The names of the forms in a sentence; those of clauses are what the reader calls them."""
    found = {form for part in sentence.parts for form in part_forms(part)}
    return found | {JOINED} if sentence.joins else found


def part_forms(part: SubSentence) -> Iterator[str]:
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


def is_clear(clause: Clause) -> bool:
    """Whether nobody could mishear a clause: its lists are short enough, its pronouns can't miss."""
    most_subjects, most_objects = most_actions(clause.form, clause.direction)
    if len(clause.subject.actions) > most_subjects or len(clause.object.actions) > most_objects:
        return False
    pronouns = Pronouns(clause.form)
    at_end = clause.object if clause.form in OBJECT_LAST else None
    groups = spoken_order(clause.form, clause.subject, clause.object)
    return all([_is_described_clearly(group, pronouns, group is at_end) for group in groups])


def _is_described_clearly(group: Group, pronouns: Pronouns, at_end: bool) -> bool:
    clear, relative = pronouns.name(group.actions), group.relative
    if relative is None:
        return True
    if isinstance(relative, TimedRelative):
        return len(group.actions) == 1
    inner = relative.object
    if not clear or len(inner.actions) > pronouns.most:
        return False
    if inner.relative and not (at_end and len(inner.actions) > 1):
        return False
    return _is_described_clearly(inner, pronouns, at_end)
