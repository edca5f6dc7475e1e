"""The words of a sentence as data: those it has, those that would fit, and its text in other words."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count, product
from operator import itemgetter

import msgspec

from misstep.core.case import MOST_ACTIONS
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.language.rendering import Draw, Mood, Option, in_mood, write
from misstep.planning.language.syntax import Paragraph, Sentence

Drawn = tuple[Option, ...]
"""The phrases of a sentence, in the order in which they are drawn."""

_MARK = "\0"
_ANYBODY = ("",) * MOST_ACTIONS


class PhraseSlot(msgspec.Struct, frozen=True):
    """A place for a phrase in a sentence: the options, and the current phrase."""

    options: tuple[Option, ...]
    word: Option


def replay(words: Iterable[Option]) -> Draw:
    """Known words one after another; `ValueError` for one that doesn't fit."""
    left = iter(words)

    def draw(options: tuple[Option, ...]) -> Option:
        word = next(left, None)
        if word is None or word not in options:
            raise ValueError(f"{word} is not among the {len(options)} phrases that fit, such as {options[0]}")
        return word

    return draw


def say(paragraph: Paragraph, names: Sequence[str], words: Sequence[Drawn]) -> tuple[str, ...]:
    """The sentences of a paragraph in exactly these words; `ValueError` if they don't fit."""
    left = chain.from_iterable(words)
    sentences = write(paragraph, names, replay(left))
    if next(left, None) is not None:
        raise ValueError("there are more words than slots")
    return sentences


def draw_words(sentence: Sentence, source: Draw) -> Drawn:
    return tuple([slot.word for slot in slots_of(sentence, source)])


def slots_of(sentence: Sentence, source: Draw) -> tuple[PhraseSlot, ...]:
    """The slots of a sentence, filled from a source; the slots don't depend on what is drawn."""
    slots = list[PhraseSlot]()

    def draw(options: tuple[Option, ...]) -> Option:
        if not options:
            raise UsageError("there is no phrase for something that is said")
        slots.append(PhraseSlot(options, source(options)))
        return slots[-1].word

    write((sentence,), _ANYBODY, draw)
    return tuple(slots)


def options_of(sentence: Sentence) -> list[tuple[Option, ...]]:
    return [slot.options for slot in slots_of(sentence, itemgetter(0))]


def find_words(sentence: Sentence, names: Sequence[str], text: str) -> Drawn | None:
    """The words with which the sentence becomes this text; None if there are none."""
    offered = options_of(sentence)
    if any(_MARK in given for given in (text, *names)):
        return None
    frames = [number for number, options in enumerate(offered) if any("{" in o.one for o in options)]
    for chosen in product(*[offered[number] for number in frames]):
        known = dict(zip(frames, chosen, strict=True))
        (template,) = write((sentence,), names, _marks(known))
        found = _fill(template, _uncapitalised(text), offered)
        if found is not None:
            words = tuple([known.get(number) or found[number] for number in range(len(offered))])
            if say((sentence,), names, (words,)) == (text,):
                return words
    return None


def _marks(frames: Mapping[int, Option]) -> Draw:
    """Markers instead of phrases; frames, which contain other text, have to be known."""
    numbers = count()

    def draw(_: tuple[Option, ...]) -> Option:
        number = next(numbers)
        one, many = (f"{_MARK}{number}{form}{_MARK}" for form in ("one", "many"))
        return frames.get(number) or Option(one, many, ())

    return draw


def _fill(template: str, text: str, offered: Sequence[tuple[Option, ...]]) -> dict[int, Option] | None:
    """Phrases in place of the markers so that the template becomes the text; None if there are none."""
    *texts, tail = re.split(rf"{_MARK}(\d+)(one|many){_MARK}", _uncapitalised(template))
    paths: dict[int, dict[int, Option]] = {0: {}}
    for head, slot, form in zip(texts[::3], texts[1::3], texts[2::3], strict=True):
        onward: dict[int, dict[int, Option]] = {}
        for (at, path), option in product(paths.items(), offered[int(slot)]):
            phrase = head + getattr(option, form)
            if text.startswith(phrase, at):
                onward.setdefault(at + len(phrase), {**path, int(slot): option})
        paths = onward
    return paths.get(len(text) - len(tail)) if text.endswith(tail) else None


def _uncapitalised(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


class NothingLeft(LookupError):
    """There is no way to say something without what must be avoided."""


def heard_mood(words: Iterable[Option]) -> Mood:
    """The mood of these words; dependent clauses are indicative in either mood."""
    moods = {word.mood for word in words}
    return "indicative" if "indicative" in moods and "modal" not in moods else "modal"


class Choosing:
    """Chooses phrases that are not to be avoided and, if possible, not used before, in the same mood.

    Phrases are given by their singular or their plural.
    """

    def __init__(self, avoid: Collection[str], dice: Dice, heard: Iterable[Option] = ()) -> None:
        self.dice = dice
        self._avoid = avoid
        heard = list(heard)
        self._mood = heard_mood(heard)
        self._heard = {sound for word in heard for sound in word.sounds}

    def draw(self, options: tuple[Option, ...]) -> Option:
        """One of the options; `NothingLeft` if every one must be avoided."""
        allowed = [option for option in options if not self.avoids(option)]
        if not allowed:
            raise NothingLeft(f"every phrase that fits must be avoided, such as {options[:1]}")
        allowed = list(in_mood(tuple(allowed), self._mood))
        fresh = [option for option in allowed if self._heard.isdisjoint(option.sounds)]
        option = self.dice.pick(fresh or allowed)
        self._heard.update(option.sounds)
        return option

    def avoids(self, option: Option) -> bool:
        return option.one in self._avoid or option.many in self._avoid

    def substitute(self, found: Sequence[PhraseSlot]) -> Drawn:
        """The words of a sentence, with those to be avoided replaced."""
        return tuple([self.draw(slot.options) if self.avoids(slot.word) else slot.word for slot in found])


def keeping(before: Iterable[Option], choosing: Choosing) -> Draw:
    """Earlier phrases if one fits, each as often as it occurred, else others."""
    left = list(before)

    def draw(options: tuple[Option, ...]) -> Option:
        for option in left:
            if option in options:
                left.remove(option)
                return option
        return choosing.draw(options)

    return draw
