"""The slots of a whole case, and other words for some of them."""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.syntax import Sentence
from misstep.planning.language.wording import Mood, Option, in_mood
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.phrasing import Drawn, PhraseSlot, Replay, slots_of


class NothingLeft(LookupError):
    """There is no way to say something without what is to be avoided."""


class Worded(msgspec.Struct, frozen=True):
    """A sentence with its words; `redundant` if it deliberately repeats something."""

    sentence: Sentence
    words: Drawn
    redundant: bool = False


def said_in(anatomy: Anatomy) -> list[Worded]:
    """The sentences of a case."""
    told = zip(anatomy.paragraph, anatomy.words, strict=True)
    return [Worded(*each, redundant=number in anatomy.redundant) for number, each in enumerate(told)]


def saying(anatomy: Anatomy, said: Iterable[Worded]) -> Anatomy:
    """The case with these sentences."""
    said = list(said)
    return msgspec.structs.replace(
        anatomy,
        paragraph=tuple([each.sentence for each in said]),
        words=tuple([each.words for each in said]),
        redundant=tuple([number for number, each in enumerate(said) if each.redundant]),
    )


def slots(anatomy: Anatomy) -> list[tuple[PhraseSlot, ...]]:
    """The slots of each sentence: the options, and the current phrase."""
    said = zip(anatomy.paragraph, anatomy.words, strict=True)
    return [slots_of(sentence, Replay(words)) for sentence, words in said]


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
        """One of the options; `NothingLeft` if every one is to be avoided."""
        allowed = [option for option in options if not self.avoids(option)]
        if not allowed:
            raise NothingLeft(f"every phrase that fits is to be avoided, such as {options[:1]}")
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


class Keeping:
    """Draws earlier phrases if one fits, each as often as it occurred, else others."""

    def __init__(self, before: Iterable[Option], choosing: Choosing) -> None:
        self._left = list(before)
        self._choosing = choosing

    def draw(self, options: tuple[Option, ...]) -> Option:
        for option in self._left:
            if option in options:
                self._left.remove(option)
                return option
        return self._choosing.draw(options)
