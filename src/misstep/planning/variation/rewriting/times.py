"""What is said about times, in whatever form."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from misstep.core.dice import Dice
from misstep.planning.language.hanging import with_time
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
        for changed in with_time(sentence, said.actions[0], said.window)
    ]
