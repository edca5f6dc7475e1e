"""What is said about times, in whatever form."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from misstep.core.dice import Dice
from misstep.planning.language.remarks import Timed, TimedRelative
from misstep.planning.language.syntax import Clause, Group, Sentence

TimeForm = Literal["verb", "fronted", "relative"]


class Appointment(msgspec.Struct, frozen=True):
    """What is said of the time of some actions, and in which form."""

    actions: tuple[int, ...]
    window: TimedRelative
    form: TimeForm


def appointments_in(paragraph: Sequence[Sentence]) -> Iterator[Appointment]:
    """All that is said about times."""
    for part in [part for sentence in paragraph for part in sentence.parts]:
        if isinstance(part, Timed):
            window = TimedRelative(part.edge, part.bound, part.time)
            yield Appointment(part.actions, window, part.form)
        elif isinstance(part, Clause):
            yield from _hanging(part.subject)
            yield from _hanging(part.object)


def _hanging(group: Group) -> Iterator[Appointment]:
    if isinstance(group.relative, TimedRelative):
        yield Appointment(group.actions, group.relative, "relative")
    elif group.relative:
        yield from _hanging(group.relative.object)


def tell_time(said: Appointment, sentences: list[Sentence], dice: Dice) -> list[Sentence]:
    """The sentences with one more, or a relative clause on one of them: in another form, if there is one."""
    ways = ways_to_hang(said, sentences) if len(said.actions) == 1 else []
    forms = [form for form in time_forms(said) if form != "relative" or ways]
    form = dice.pick([form for form in forms if form != said.form] or forms)
    if form != "relative":
        return [*sentences, time_sentence(said, form)]
    number, changed = dice.pick(ways)
    return [*sentences[:number], changed, *sentences[number + 1 :]]


def time_forms(said: Appointment) -> list[TimeForm]:
    """The forms in which a time may be said of so many actions."""
    forms: list[TimeForm] = ["verb"]
    if len(said.actions) == 1:
        forms.append("relative")
    if len(said.actions) <= 2 and said.window.edge == "end":
        forms.append("fronted")
    return forms


def time_sentence(said: Appointment, form: Literal["verb", "fronted"]) -> Sentence:
    return Sentence((Timed(form, said.window.edge, said.window.bound, said.window.time, said.actions),))


def ways_to_hang(said: Appointment, sentences: Sequence[Sentence]) -> list[tuple[int, Sentence]]:
    """Sentences, by their numbers, with the time as a relative clause wherever the action stands alone."""
    return [
        (number, changed)
        for number, sentence in enumerate(sentences)
        for changed in _described(sentence, said)
    ]


def _described(sentence: Sentence, said: Appointment) -> Iterator[Sentence]:
    """The sentence with a relative clause wherever the action stands alone.

    One is enough for a clause, and at the end of one it would swallow what a comma ties to it.
    """
    for place, part in enumerate(sentence.parts):
        if not isinstance(part, Clause) or part.subject.relative or part.object.relative:
            continue
        tied = place < len(sentence.joins) and sentence.joins[place] != ";"
        for name in ("subject",) if tied else ("subject", "object"):
            if getattr(part, name).actions == said.actions:
                described = msgspec.structs.replace(part, **{name: Group(said.actions, said.window)})
                parts = (*sentence.parts[:place], described, *sentence.parts[place + 1 :])
                yield msgspec.structs.replace(sentence, parts=parts)
