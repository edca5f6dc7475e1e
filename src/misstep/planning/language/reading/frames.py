"""Finds sentences of a fixed frame: words, with slots for what differs.

A slot is a name in braces. Actions, lists of them (`s`), times, amounts and arguments are read as such; any
other slot takes the phrases of its kind.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from misstep.core.constraint import Constraint
from misstep.planning.language.reading.phrases import Phrase, Table, words_of
from misstep.planning.language.reading.text import Text

_ACTIONS = frozenset({"a", "b", "c", "giver", "taker"})
# They have to be there, but tell nothing by themselves.
_NEUTRAL = frozenset({"duty", "neutral", "repeated", "finding", "value", "a_value"})
# What fills the slots, in the order of the text.
Filled = dict[str, Any]
Meaning = Callable[[Filled], tuple[Constraint, ...]]


class Slot(msgspec.Struct, frozen=True):
    name: str


class Frame(msgspec.Struct, frozen=True):
    """The words and slots of a sentence, and what it demands; it has a `name` if it is a phrase by itself."""

    parts: tuple[str | Slot, ...]
    means: Meaning
    name: str = ""


class Found(msgspec.Struct, frozen=True):
    """What a sentence of a frame demands, the activities in it, and the phrases that say so."""

    demands: tuple[Constraint, ...]
    mentioned: tuple[str, ...]
    phrases: tuple[str, ...]


# Frames by a word without which no sentence can be theirs.
Index = dict[str, list[Frame]]


def frame(text: str, means: Meaning, name: str = "") -> Frame:
    words = (*words_of(text), ".")
    return Frame(tuple(Slot(word[1:-1]) if word.startswith("{") else word for word in words), means, name)


def index(frames: Iterable[Frame], table: Table, usual: frozenset[str]) -> Index:
    """The frames under words that tell them from sentences made of the usual words."""
    found: Index = {}
    for one in frames:
        signs = min(_signs(one, table, usual), key=lambda words: (len(words & usual), len(words)))
        for sign in sorted(signs):
            found.setdefault(sign, []).append(one)
    return found


def _signs(one: Frame, table: Table, usual: frozenset[str]) -> Iterator[frozenset[str]]:
    """For each part of the frame the words of which one has to be there, if that is known."""
    for part in one.parts:
        if isinstance(part, str):
            yield frozenset({part})
        elif phrases := [
            phrase for (kind, _), those in table.items() if kind == part.name for phrase in those
        ]:
            yield frozenset(_sign(phrase, usual) for phrase in phrases)


def _sign(phrase: Phrase, usual: frozenset[str]) -> str:
    return next((word for word in phrase.words if word not in usual), phrase.words[0])


def find(text: Text, frames: Index) -> Iterator[Found]:
    """All that the sentence may demand."""
    for candidate in dict.fromkeys(one for word in text.words for one in frames.get(word, ())):
        for filled in _fill(candidate.parts, text, 0, {}):
            mentioned = _mentioned(filled)
            # Nobody hears that an action has to do with itself.
            if len(set(mentioned)) == len(mentioned):
                yield Found(candidate.means(filled), mentioned, _phrases(candidate, filled))


def _fill(parts: tuple[str | Slot, ...], text: Text, at: int, filled: Filled) -> Iterator[Filled]:
    """Every way to read all the words from a position on; a slot that comes again takes the same again."""
    if not parts:
        if at == len(text.words):
            yield filled
        return
    part, rest = parts[0], parts[1:]
    if isinstance(part, str):
        if text.word(at) == part:
            yield from _fill(rest, text, at + 1, filled)
        return
    for filling, end in _read(part.name, text, at, filled):
        if filled.get(part.name, filling) == filling:
            yield from _fill(rest, text, end, {**filled, part.name: filling})


def _read(slot: str, text: Text, at: int, filled: Filled) -> Iterator[tuple[Any, int]]:
    match slot:
        case "s":
            return text.groups(at)
        case "time":
            return text.times(at)
        case "amount":
            return text.amounts(at)
        case "arguments":
            return text.arguments(at)
        case _ if slot in _ACTIONS:
            return text.actions(at)
    return ((phrase, end) for phrase, end in text.phrases(slot, at) if _agrees(phrase, filled))


def _agrees(phrase: Phrase, filled: Filled) -> bool:
    return bool(filled["s"].agrees(phrase)) if "s" in filled else phrase.one


def _mentioned(filled: Filled) -> tuple[str, ...]:
    names = list[str]()
    for slot, filling in filled.items():
        names += filling.actions if slot == "s" else [filling] if slot in _ACTIONS else []
    return tuple(names)


def _phrases(one: Frame, filled: Filled) -> tuple[str, ...]:
    names = [
        filling.name
        for slot, filling in filled.items()
        if isinstance(filling, Phrase) and slot not in _NEUTRAL
    ]
    return tuple(dict.fromkeys([one.name, *names] if one.name else names))
