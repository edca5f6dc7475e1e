"""Which topics, phrases and structures a model may be trained on, and which are kept back.

Only what was never seen in training shows whether a model has learnt to plan or has learnt our words by heart. So
a part of each is kept back, always the same: every fifth topic, every fourth phrase in each list of the lexicon,
and a fifth of the shapes of ordering sentences about three actions or more. Of other sentences there are few
shapes, which nobody could do without.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.topics import load_topics

Side: TypeAlias = Literal["seen", "unseen"]

TOPICS, PHRASES, SHAPES = 5, 4, 5  # one in so many is kept back
LEAST_ACTIONS = 3  # of a structure that can be kept back
_NAMED_BY = ("one", "text", "some", "noun")  # fields that tell the entries of a list apart

_ACTION = re.compile(r"\ba[1-9][0-9]?\b")
_CLOCK = re.compile(r"[0-2][0-9]:[0-5][0-9]")
_VALUE = re.compile(r"(?<=GIVES )\S+")
_ARGUMENTS = re.compile(r"(?<=GIVEN )\S+")
_NUMBER = re.compile(r"\b[0-9]+\b")
_SENTENCE = re.compile(r"(?<=\.) ")


class Part(msgspec.Struct, frozen=True):
    """From which side topics, phrases and structures are taken; None: from both.

    A request is of the unseen structures if one of its sentences is.
    """

    topics: Side | None = None
    words: Side | None = None
    structures: Side | None = None


@cache
def topics_of(side: Side) -> tuple[str, ...]:
    names = list(load_topics())
    return tuple(
        [name for number, name in enumerate(names, 1) if (number % TOPICS == 0) == (side == "unseen")]
    )


def is_of(phrase: str, side: Side) -> bool:
    return (phrase in _unseen_phrases()) == (side == "unseen")


def structure_of(skeleton: str) -> Side:
    """Where a request belongs by its sentences."""
    return "unseen" if any(map(_is_kept_back, shapes_of(skeleton))) else "seen"


def shapes_of(skeleton: str) -> list[str]:
    """The sentences of a skeleton, whatever actions, times, numbers and values they are about."""
    return [_shape(sentence) for sentence in _SENTENCE.split(skeleton)]


def _shape(sentence: str) -> str:
    numbers = dict[str, str]()
    text = _ACTION.sub(lambda found: numbers.setdefault(found[0], f"a{len(numbers) + 1}"), sentence)
    for pattern, name in (
        (_VALUE, "VALUE"),
        (_ARGUMENTS, "ARGUMENTS"),
        (_CLOCK, "CLOCK"),
        (_NUMBER, "NUMBER"),
    ):
        text = pattern.sub(name, text)
    return text


@cache
def _is_kept_back(shape: str) -> bool:
    if "VP" not in shape or f"a{LEAST_ACTIONS}" not in shape:
        return False
    return hashlib.blake2b(shape.encode(), digest_size=1).digest()[0] % SHAPES == 0


@cache
def _unseen_phrases() -> frozenset[str]:
    lists = _lists(msgspec.to_builtins(load_lexicon()))
    return frozenset([phrase for phrases in lists for phrase in phrases[PHRASES - 1 :: PHRASES]])


def _lists(part: Any) -> Iterator[list[str]]:
    """The lists of phrases in a lexicon, wherever they are."""
    if isinstance(part, dict):
        for inner in part.values():
            yield from _lists(inner)
    elif isinstance(part, Iterable) and not isinstance(part, str):
        yield [_name(entry) for entry in part]


def _name(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    return next(str(entry[field]) for field in _NAMED_BY if field in entry)
