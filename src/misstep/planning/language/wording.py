"""Writes remarks in English, in words that the paragraph has not used yet."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeAlias, assert_never

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language import syntax
from misstep.planning.language.lexicon import Linker, Verb, load_lexicon
from misstep.planning.language.parts import Side, is_of
from misstep.planning.language.requests import clock, euros, in_words, listed

Mood: TypeAlias = Literal["modal", "indicative"]
MODALS = ("must ", "has to ", "needs to ", "is to ")


class Option(msgspec.Struct, frozen=True):
    """A phrase in both its forms, and the sounds that a reader would notice if repeated.

    `mood` is that of a verb that orders something; a request uses only one mood.
    """

    one: str
    many: str
    sounds: tuple[str, ...]
    mood: Mood | None = None


class Phrases(Protocol):
    """The source of phrases for slots."""

    def draw(self, options: tuple[Option, ...]) -> Option:
        """One of the options; called for each slot in the order in which a sentence is written."""
        ...


class PhraseDrawer:
    """Draws phrases so that none repeats in a paragraph while another of its kind is left.

    Verbs with the same ending ("must take place", "is to take place") count as repetitions. With a `side`
    phrases come from that side only; with a `mood` they have that mood if there is a choice.
    """

    def __init__(self, dice: Dice, side: Side | None = None, mood: Mood | None = None) -> None:
        self._dice = dice
        self._side: Side | None = side
        self._mood: Mood | None = mood
        self._used: set[str] = set()

    def draw(self, options: tuple[Option, ...]) -> Option:
        if self._side:
            options = _options_of(options, self._side)
        if self._mood:
            options = in_mood(options, self._mood)
        option = self._dice.pick(options)
        if not self._used.isdisjoint(option.sounds):
            fresh = [other for other in options if self._used.isdisjoint(other.sounds)]
            fresh = fresh or [other for other in options if other.sounds[0] not in self._used]
            option = self._dice.pick(fresh or options)
        self._used.update(option.sounds)
        return option


@lru_cache(maxsize=256)
def _options_of(options: tuple[Option, ...], side: Side) -> tuple[Option, ...]:
    return tuple([option for option in options if is_of(option.one, side)])


@lru_cache(maxsize=256)
def in_mood(options: tuple[Option, ...], mood: Mood) -> tuple[Option, ...]:
    """The options with this mood or none; all of them if there are none, as in a dependent clause."""
    return tuple([option for option in options if option.mood in (None, mood)]) or options


@lru_cache(maxsize=64)
def verb_options(verbs: tuple[Verb, ...], ordering: bool = False) -> tuple[Option, ...]:
    """Verbs count by the whole phrase and by its last word; those that order something have a mood."""
    return tuple(
        Option(
            verb.one,
            verb.many,
            (verb.many, verb.many.rsplit(" ", 1)[-1]),
            mood_of(verb) if ordering else None,
        )
        for verb in verbs
    )


def mood_of(verb: Verb) -> Mood:
    return "modal" if verb.one.startswith(MODALS) else "indicative"


@lru_cache(maxsize=64)
def text_options(texts: tuple[str, ...]) -> tuple[Option, ...]:
    return tuple(Option(text, text, (text,)) for text in texts)


class RemarkWriter:
    """Writes remarks; `names` are the activities with their article, by action number."""

    def __init__(self, names: Sequence[str], words: Phrases) -> None:
        self._names = names
        self._words = words
        self._lexicon = load_lexicon()

    def remark(self, remark: syntax.Remark) -> str:
        """The sentence without its initial capital and full stop."""
        match remark:
            case syntax.Timed():
                return self._timed(remark)
            case syntax.Neighbours():
                return self._neighbours(remark)
            case syntax.End(place, action):
                near = self._lexicon.adjacency
                verb = self._verb(near.first if place == "first" else near.last)
                return f"{self._names[action]} {verb}"
            case syntax.Alternative((one, other)):
                return self._frame(self._lexicon.choices, a=one, b=other, verb=self._neutral())
            case syntax.Conditional():
                return self._conditional(remark)
            case syntax.RepeatRemark():
                return self._repeated(remark)
            case syntax.Limited():
                return self._limited(remark)
            case syntax.BudgetRemark(most):
                return self._frame(self._lexicon.budgets, amount=euros(most))
            case syntax.HandOver():
                return self._passing(remark)
            case syntax.Replacing(action, by):
                return self._frame(self._lexicon.stand_ins, a=action, b=by)
            case syntax.Duty(actions):
                subject = listed([self._names[action] for action in actions])
                return f"{subject} {self._verb(self._lexicon.duties, len(actions) > 1)}"
            case syntax.Giving(action, arguments):
                return self._frame(self._lexicon.given, a=action, arguments=_arguments(arguments))
            case _:
                assert_never(remark)

    def window(self, said: syntax.Timed | syntax.TimedRelative, several: bool = False) -> str:
        """`must start after 10:00`"""
        times = self._lexicon.times
        linkers = times.after if said.bound == "after" else times.before
        return f"{self._edge(said, several)} {self._linker(linkers)} {clock(said.time)}"

    def _timed(self, remark: syntax.Timed) -> str:
        several = len(remark.actions) > 1
        subject = listed([self._names[action] for action in remark.actions])
        if remark.form == "verb":
            return f"{subject} {self.window(remark, several)}"
        opening = f"{self._linker(self._lexicon.times.before, front=True)} {clock(remark.time)}"
        lead = "both " if several else ""  # or the pair would sound like the rest of a list
        return f"{opening}, {lead}{subject} {self._edge(remark, several)}"

    def _edge(self, said: syntax.Timed | syntax.TimedRelative, several: bool) -> str:
        times = self._lexicon.times
        return self._verb(times.start if said.edge == "start" else times.end, several)

    def _neighbours(self, remark: syntax.Neighbours) -> str:
        near, before = self._lexicon.adjacency, remark.direction == "<"
        subject, object_ = self._names[remark.subject], self._names[remark.object]
        prepositions = near.prepositions.before if before else near.prepositions.after
        match remark.form:
            case "verb":
                verb = self._verb(near.verbs.before if before else near.verbs.after, ordering=True)
                return f"{subject} {verb} {object_}"
            case "preposition":
                return f"{subject} {self._neutral()} {self._linker(prepositions)} {object_}"
            case "fronted preposition":
                opening = f"{self._linker(prepositions, front=True)} {object_}"
                return f"{opening}, {subject} {self._neutral()}"

    def _conditional(self, remark: syntax.Conditional) -> str:
        """The action to leave out is named again, since "it" could be the one that reports."""
        text, phrases = self._text, self._lexicon.conditions
        asks, then = self._names[remark.asks], self._names[remark.then]
        reports = text(phrases.reports_of(remark.finding))
        if remark.form == "then first":
            so = f"{then} {text(self._lexicon.repeats.verbs)} after {asks}"
            so += f" {text(phrases.openers)} the latter {reports} {remark.finding}"
        else:
            so = f"{text(phrases.openers)} {asks} {reports} {remark.finding}"
            so += f", {then} {text(phrases.obligations)}"
        otherwise = text(phrases.otherwise)
        if remark.otherwise is None:
            return f"{so}; {otherwise}, {then} {text(phrases.skips)}"
        other = self._names[remark.otherwise]
        return f"{so}; {otherwise}, {other} {text(phrases.obligations)}"

    def _repeated(self, remark: syntax.RepeatRemark) -> str:
        repeats = self._lexicon.repeats
        counts = tuple([count.text for count in repeats.counts if count.times == remark.times])
        verb = self._text(repeats.verbs)
        return f"{self._names[remark.action]} {verb} {self._text(counts)}"

    def _limited(self, remark: syntax.Limited) -> str:
        repeats, tasks = self._lexicon.repeats, "task" if remark.most == 1 else "tasks"
        count = self._text(repeats.limit_counts).format(number=in_words(remark.most), tasks=tasks)
        return self._frame(repeats.limits, a=remark.action, count=count)

    def _passing(self, remark: syntax.HandOver) -> str:
        data = self._lexicon.data
        (article,) = [value.article for value in data.values if value.noun == remark.value]
        named = {"value": remark.value, "a_value": f"{article} {remark.value}"}
        return self._frame(data.frames, giver=remark.giver, taker=remark.taker, **named)

    def _verb(self, verbs: tuple[Verb, ...], several: bool = False, ordering: bool = False) -> str:
        option = self._words.draw(verb_options(verbs, ordering))
        return option.many if several else option.one

    def _text(self, texts: tuple[str, ...]) -> str:
        return self._words.draw(text_options(texts)).one

    def _linker(self, linkers: tuple[Linker, ...], front: bool = False) -> str:
        return self._text(tuple([linker.text for linker in linkers if linker.front >= front]))

    def _neutral(self) -> str:
        return self._verb(self._lexicon.verbs.neutral, ordering=True)

    def _frame(self, frames: tuple[str, ...], **slots: int | str) -> str:
        """A frame with its slots filled; numbers are actions."""
        filled = {
            slot: self._names[given] if isinstance(given, int) else given for slot, given in slots.items()
        }
        return self._text(frames).format(**filled)


def _arguments(arguments: dict[str, Any]) -> str:
    """A JSON object in backticks; backticks in values are escaped, so that it can be parsed unambiguously."""
    return "`" + json.dumps(arguments, ensure_ascii=False).replace("`", "\\u0060") + "`"
