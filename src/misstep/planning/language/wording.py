"""Draws phrases, in words that the paragraph has not used yet."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.lexicon import Verb
from misstep.planning.language.parts import Side, is_of

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


# A source of phrases: one of the options; called for each slot in the order in which a sentence is written.
Draw: TypeAlias = Callable[[tuple[Option, ...]], Option]


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
