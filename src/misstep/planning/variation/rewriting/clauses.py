"""Rewrites clauses and time statements in other forms, keeping as many phrases as fit."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.clarity import is_clear, with_time
from misstep.planning.language.syntax import (
    FORMS,
    OPPOSITE,
    RELATIVE_FORMS,
    Clause,
    Direction,
    Form,
    Group,
    Relative,
    Sentence,
    Timed,
    TimedRelative,
    groups_in,
)
from misstep.planning.variation.phrasing import Drawn, options_of
from misstep.planning.variation.shapes import LIST
from misstep.planning.variation.words import Choosing, Keeping, NothingLeft

RELATIVES = tuple(f"relative {form}" for form in RELATIVE_FORMS)
# Forms that share their linkers.
_KIN: dict[Form, Form] = {
    "preposition": "fronted preposition",
    "fronted preposition": "preposition",
    "conjunction": "fronted conjunction",
    "fronted conjunction": "conjunction",
}


class Phrased(msgspec.Struct, frozen=True):
    """A clause, and the phrases to keep if they fit: its own and those of its relative clauses."""

    clause: Clause
    own: Drawn = ()
    subject: Drawn = ()
    object: Drawn = ()

    def words(self, choosing: Choosing) -> Drawn:
        """Words for the clause as a sentence."""
        kept = {"own": self.own, "subject": self.subject, "object": self.object}
        sources = {role: Keeping(before, choosing) for role, before in kept.items()}
        slots = zip(_roles(self.clause), options_of(Sentence((self.clause,))), strict=True)
        return tuple([sources[role].draw(options) for role, options in slots])


def phrased(clause: Clause, words: Drawn) -> Phrased:
    """A clause with the words that it has as a sentence."""
    said = list(zip(_roles(clause), words, strict=True))
    own, subject, object_ = (
        tuple([word for role, word in said if role == wanted]) for wanted in ("own", "subject", "object")
    )
    return Phrased(clause, own, subject, object_)


def turned(said: Phrased) -> Phrased:
    """The clause stated from its other end."""
    clause = said.clause
    other = Clause(clause.form, OPPOSITE[clause.direction], clause.object, clause.subject)
    return Phrased(other, said.own, said.object, said.subject)


def reformed(said: Phrased, avoid: Collection[str], choosing: Choosing) -> list[Phrased]:
    """Clauses in allowed forms that together say the same; `NothingLeft` if there are none."""
    pieces = _unlisted(said) if LIST in avoid else [said]
    pieces = [each for piece in pieces for each in _unhung(piece, avoid)]
    return [each for piece in pieces for each in _in_other_form(piece, avoid, choosing)]


def _in_other_form(said: Phrased, avoid: Collection[str], choosing: Choosing) -> list[Phrased]:
    """The clause in a form similar to its own, if there is one; in pieces, if it can't be kept whole."""
    if said.clause.form not in avoid and is_clear(said.clause):
        return [said]
    allowed = [form for form in choosing.dice.shuffled(FORMS) if form not in avoid]
    if not allowed:
        raise NothingLeft("every form of a clause is to be avoided")
    allowed.sort(key=lambda form: form != _KIN.get(said.clause.form))
    for form in allowed:
        for way in (_put(said, form), _put(turned(said), form)):
            if is_clear(way.clause):
                return [way]
    plain = [each for piece in _unlisted(said) for each in _unhung(piece, RELATIVES)]
    return [_put(each, allowed[0]) for each in plain]


def _put(said: Phrased, form: Form) -> Phrased:
    return msgspec.structs.replace(said, clause=msgspec.structs.replace(said.clause, form=form))


def _unlisted(said: Phrased) -> list[Phrased]:
    """One clause for each pair of actions; a relative clause on a single action stays there, once."""
    clause = said.clause
    subjects, more = _singles(clause.subject, said.subject)
    objects, further = _singles(clause.object, said.object)
    pairs = _pairs(clause.form, clause.direction, subjects, objects)
    return [*(msgspec.structs.replace(said, clause=pair) for pair in pairs), *more, *further]


def _singles(group: Group, words: Drawn) -> tuple[list[Group], list[Phrased]]:
    """A group for each action, and clauses for what can no longer be attached to one of them."""
    alone, relative = [Group((action,)) for action in group.actions], group.relative
    if relative is None:
        return alone, []
    if isinstance(relative, TimedRelative):
        return [msgspec.structs.replace(each, relative=relative) for each in alone], []
    objects, more = _singles(relative.object, words)
    if len(alone) == 1 and not objects[0].relative:
        hanging = Relative(relative.form, relative.direction, objects[0])
        pairs = _pairs(relative.form, relative.direction, alone, objects[1:])
        alone = [Group(group.actions, hanging)]
    else:
        pairs = _pairs(relative.form, relative.direction, alone, objects)
    return alone, [*(Phrased(pair, words, (), words) for pair in pairs), *more]


def _pairs(
    form: Form, direction: Direction, subjects: Sequence[Group], objects: Sequence[Group]
) -> Iterator[Clause]:
    """A clause for each subject with each object; relative clauses are included the first time only."""
    for i, subject in enumerate(subjects):
        for j, object_ in enumerate(objects):
            one = Group(subject.actions) if j else subject
            other = Group(object_.actions) if i else object_
            yield Clause(form, direction, one, other)


def _unhung(said: Phrased, avoid: Collection[str]) -> list[Phrased]:
    """The clause with its relative clauses in other forms, or as separate clauses."""
    subject, more = _swapped(said.clause.subject, avoid, said.subject)
    object_, further = _swapped(said.clause.object, avoid, said.object)
    clause = msgspec.structs.replace(said.clause, subject=subject, object=object_)
    return [msgspec.structs.replace(said, clause=clause), *more, *further]


def _swapped(group: Group, avoid: Collection[str], words: Drawn) -> tuple[Group, list[Phrased]]:
    relative = group.relative
    if relative is None or isinstance(relative, TimedRelative):
        return group, []
    inner, more = _swapped(relative.object, avoid, words)
    for form in sorted(RELATIVE_FORMS, key=lambda form: form != relative.form):
        if f"relative {form}" not in avoid:
            return Group(group.actions, Relative(form, relative.direction, inner)), more
    clause = Clause(relative.form, relative.direction, Group(group.actions), inner)
    return Group(group.actions), [Phrased(clause, words, (), words), *more]


def _roles(clause: Clause) -> list[str]:
    """For each slot of a clause, where its phrase belongs, in the order in which they are drawn."""
    subject, object_ = (
        ["subject"] * _phrases_hanging(clause.subject),
        ["object"] * _phrases_hanging(clause.object),
    )
    match clause.form:
        case "verb":
            return [*subject, "own", *object_]
        case "preposition":
            return [*subject, "own", "own", *object_]
        case "fronted preposition":
            return ["own", *object_, *subject, "own"]
        case "conjunction":
            return [*subject, "own", "own", *object_, "own"]
        case "fronted conjunction":
            return ["own", *object_, "own", *subject, "own"]


def _phrases_hanging(group: Group) -> int:
    """How many phrases the relative clauses of a group have."""
    relative = group.relative
    if relative is None:
        return 0
    if isinstance(relative, TimedRelative):
        return 2
    return (1 if relative.form == "verb" else 2) + _phrases_hanging(relative.object)


TimeForm = Literal["verb", "fronted", "relative"]


class Appointment(msgspec.Struct, frozen=True):
    """A time statement about some actions, and its form."""

    actions: tuple[int, ...]
    window: TimedRelative
    form: TimeForm


def appointments_in(paragraph: Sequence[Sentence]) -> Iterator[Appointment]:
    """All time statements."""
    for part in [part for sentence in paragraph for part in sentence.parts]:
        if isinstance(part, Timed):
            window = TimedRelative(part.edge, part.bound, part.time)
            yield Appointment(part.actions, window, part.form)
        for group in groups_in(part):
            if isinstance(group.relative, TimedRelative):
                yield Appointment(group.actions, group.relative, "relative")


def tell_time(said: Appointment, sentences: list[Sentence], dice: Dice) -> list[Sentence]:
    """The sentences with a time statement added, in another form if there is one."""
    ways = ways_to_hang(said, sentences) if len(said.actions) == 1 else []
    forms = [form for form in time_forms(said) if form != "relative" or ways]
    form = dice.pick([form for form in forms if form != said.form] or forms)
    if form != "relative":
        return [*sentences, time_sentence(said, form)]
    number, changed = dice.pick(ways)
    return [*sentences[:number], changed, *sentences[number + 1 :]]


def time_forms(said: Appointment) -> list[TimeForm]:
    """The forms in which a time may be stated for this many actions."""
    forms: list[TimeForm] = ["verb"]
    if len(said.actions) == 1:
        forms.append("relative")
    if len(said.actions) <= 2 and said.window.edge == "end":
        forms.append("fronted")
    return forms


def time_sentence(said: Appointment, form: Literal["verb", "fronted"]) -> Sentence:
    return Sentence((Timed(form, said.window.edge, said.window.bound, said.window.time, said.actions),))


def ways_to_hang(said: Appointment, sentences: Sequence[Sentence]) -> list[tuple[int, Sentence]]:
    """Sentences, by number, with the time as a relative clause wherever the action stands alone."""
    return [
        (number, changed)
        for number, sentence in enumerate(sentences)
        for changed in with_time(sentence, said.actions[0], said.window)
    ]
