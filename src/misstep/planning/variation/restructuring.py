"""Rewrites sentences without some forms, keeping as many phrases as fit."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.clarity import is_clear, rejoined, with_time
from misstep.planning.language.syntax import (
    FORMS,
    NEIGHBOUR_FORMS,
    OPPOSITE,
    RELATIVE_FORMS,
    Clause,
    Direction,
    Duty,
    Form,
    Free,
    Group,
    Neighbours,
    Relative,
    Sentence,
    SubSentence,
    Timed,
    TimedRelative,
    groups_in,
)
from misstep.planning.variation.anatomy import Worded
from misstep.planning.variation.phrasing import Choosing, Drawn, NothingLeft, draw_words, keeping, options_of
from misstep.planning.variation.pieces import attribute, paths
from misstep.planning.variation.shapes import JOINED, LIST, TIMES, forms_of

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
        sources = {role: keeping(getattr(self, role), choosing) for role in ("own", "subject", "object")}
        slots = zip(_roles(self.clause), options_of(Sentence((self.clause,))), strict=True)
        return tuple([sources[role](options) for role, options in slots])


def phrased(clause: Clause, words: Drawn) -> Phrased:
    said = list(zip(_roles(clause), words, strict=True))
    own, subject, object_ = (
        tuple([word for role, word in said if role == wanted]) for wanted in ("own", "subject", "object")
    )
    return Phrased(clause, own, subject, object_)


def turned(said: Phrased) -> Phrased:
    clause = said.clause
    other = Clause(clause.form, OPPOSITE[clause.direction], clause.object, clause.subject)
    return Phrased(other, said.own, said.object, said.subject)


def reformed(said: Phrased, avoid: Collection[str], choosing: Choosing) -> list[Phrased]:
    """Clauses in allowed forms that together say the same; `NothingLeft` if there are none."""
    pieces = [
        each for piece in (_unlisted(said) if LIST in avoid else [said]) for each in _unhung(piece, avoid)
    ]
    return [each for piece in pieces for each in _in_other_form(piece, avoid, choosing)]


def _in_other_form(said: Phrased, avoid: Collection[str], choosing: Choosing) -> list[Phrased]:
    """The clause in a form similar to its own, if there is one; in pieces, if it can't be kept whole."""
    if said.clause.form not in avoid and is_clear(said.clause):
        return [said]
    allowed = [form for form in choosing.dice.shuffled(FORMS) if form not in avoid]
    if not allowed:
        raise NothingLeft("every form of a clause must be avoided")
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
    """For each slot of a clause, where its phrase belongs: to the clause, or to what hangs on one side."""
    return [path[0] if "relative" in path else "own" for path in paths(clause)]


TimeForm = Literal["verb", "fronted", "relative"]


class Appointment(msgspec.Struct, frozen=True):
    """A time statement about some actions, and its form."""

    actions: tuple[int, ...]
    window: TimedRelative
    form: TimeForm


def appointments_in(paragraph: Sequence[Sentence]) -> Iterator[Appointment]:
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


_Part = tuple[SubSentence, Drawn]


def restructure(said: Sequence[Worded], avoid: Collection[str], choosing: Choosing) -> list[Worded]:
    """Sentences in allowed forms that demand the same, changed as little as possible.

    Raises `NothingLeft` if something can't be said in another form.
    """
    rewriter = _Rewriter(avoid, choosing)
    changed = [new for each in said for new in rewriter.rewrite(each)]
    for appointment, words in rewriter.homeless:
        ways = ways_to_hang(appointment, [each.sentence for each in changed])
        if not ways:
            raise NothingLeft("no clause can carry a time")
        number, sentence = choosing.dice.pick(ways)
        kept = draw_words(sentence, keeping((*changed[number].words, *words), choosing))
        changed[number] = Worded(sentence, kept)
    return changed


def parts_of(said: Worded) -> list[_Part]:
    return [(each.part, tuple(each.words.values())) for each in attribute(said.sentence, said.words)]


def put_together(parts: Sequence[_Part], before: Worded) -> Worded:
    """A sentence of parts that replace those of another, one by one."""
    sentence = rejoined([part for part, _ in parts], before.sentence.joins)
    return Worded(sentence, tuple([word for _, words in parts for word in words]), before.redundant)


class _Rewriter:
    """Rewrites sentences; `homeless` are times that still have to be attached to some clause."""

    def __init__(self, avoid: Collection[str], choosing: Choosing) -> None:
        self._avoid = avoid
        self._choosing = choosing
        self.homeless: list[tuple[Appointment, Drawn]] = []

    def rewrite(self, said: Worded) -> list[Worded]:
        """The sentence, or several: what can't stay in it gets its own."""
        if forms_of(said.sentence).isdisjoint(self._avoid):
            return [said]
        whole, others = list[_Part](), list[_Part]()
        for part, words in parts_of(said):
            pieces = self._part(part, words)
            whole += pieces[:1]
            others += pieces[1:]
        if JOINED in self._avoid or len(whole) != len(said.sentence.parts):
            whole, others = [], [*whole, *others]
        alone = [Worded(Sentence((part,)), words, said.redundant) for part, words in others]
        return [put_together(whole, said), *alone] if whole else alone

    def _part(self, part: SubSentence, words: Drawn) -> list[_Part]:
        match part:
            case Clause():
                return self._clause(part, words)
            case Timed(form, edge, bound, time, actions):
                appointment = Appointment(actions, TimedRelative(edge, bound, time), form)
                return self._time(appointment, words)
            case Neighbours(form):
                forms = [form, *self._choosing.dice.shuffled(NEIGHBOUR_FORMS)]
                allowed = [each for each in forms if f"adjacent {each}" not in self._avoid]
                if not allowed:
                    raise NothingLeft("every form for neighbours must be avoided")
                return [self._kept(msgspec.structs.replace(part, form=allowed[0]), words)]
            case Free(Group(actions)) if LIST in self._avoid:
                return [self._kept(Free(Group((action,))), words) for action in actions]
            case Duty(actions) if LIST in self._avoid:
                return [self._kept(Duty((action,)), words) for action in actions]
            case _:
                return [(part, words)]

    def _kept(self, part: SubSentence, words: Drawn) -> _Part:
        return part, draw_words(Sentence((part,)), keeping(words, self._choosing))

    def _clause(self, clause: Clause, words: Drawn) -> list[_Part]:
        said = phrased(clause, words)
        times = list[_Part]()
        for name in ("subject", "object"):
            group = getattr(clause, name)
            if isinstance(group.relative, TimedRelative) and TIMES["relative"] in self._avoid:
                appointment = Appointment(group.actions, group.relative, "relative")
                times += self._time(appointment, getattr(said, name))
                clause = msgspec.structs.replace(clause, **{name: Group(group.actions)})
        said = msgspec.structs.replace(said, clause=clause)
        pieces = reformed(said, self._avoid, self._choosing)
        return [*((piece.clause, piece.words(self._choosing)) for piece in pieces), *times]

    def _time(self, said: Appointment, words: Drawn) -> list[_Part]:
        """Times in an allowed form; those that only a relative clause can state are kept for later."""
        forms = [form for form in time_forms(said) if TIMES[form] not in self._avoid]
        if len(said.actions) > 1 and (LIST in self._avoid or not forms):
            alone = [msgspec.structs.replace(said, actions=(action,)) for action in said.actions]
            return [part for each in alone for part in self._time(each, words)]
        if not forms:
            raise NothingLeft("every form for times must be avoided")
        forms.sort(key=lambda form: (form == "relative", form != said.form))
        if forms[0] == "relative":
            self.homeless.append((said, words))
            return []
        (part,) = time_sentence(said, forms[0]).parts
        return [self._kept(part, words)]
