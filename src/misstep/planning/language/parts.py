"""Which topics, phrases and structures a model may be trained on, and which are held out.

Only material that was not in the training data shows whether a model has learnt to plan or memorised the
wording. So every fifth topic is held out, every fourth phrase in each list with all that contain it, and a
fifth of the shapes of ordering sentences about three actions or more: others have too few shapes.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.settings import ASPECTS, Portion
from misstep.errors import UsageError
from misstep.planning.language.lexicon import load_lexicon, load_topics

Side: TypeAlias = Literal["seen", "unseen"]

TOPICS, PHRASES, SHAPES = 5, 4, 5  # one in so many is held out
LEAST_ACTIONS = 3  # of a structure that can be held out
_FORMS = ("one", "many", "text", "some", "noun")  # fields of an entry that contain its words

_ACTION = re.compile(r"\ba[1-9][0-9]?\b")
_DETAILS = {
    "VALUE": re.compile(r"(?<=GIVES )\S+"),
    "ARGUMENTS": re.compile(r"(?<=GIVEN )\S+"),
    "CLOCK": re.compile(r"[0-2][0-9]:[0-5][0-9]"),
    "NUMBER": re.compile(r"\b[0-9]+\b"),
}
_SENTENCE = re.compile(r"(?<=\.) ")


class LanguagePart(msgspec.Struct, frozen=True):
    """Which side topics, phrases and structures are taken from; None means both.

    A request has an unseen structure if one of its sentences does.
    """

    topics: Side | None = None
    words: Side | None = None
    structures: Side | None = None


def part_of(portions: Sequence[Portion]) -> LanguagePart:
    """The requested part: `train`, or what has to be unseen while the rest is seen."""
    if not portions:
        return LanguagePart()
    if "train" in portions and len(set(portions)) > 1:
        others = ", ".join([portion for portion in portions if portion != "train"])
        raise UsageError(
            f"--part train can't be combined with {others}",
            f"use train for training data, or {others} for held-out data",
        )
    return LanguagePart(**{aspect: "unseen" if aspect in portions else "seen" for aspect in ASPECTS})


@cache
def topics_of(side: Side | None) -> tuple[str, ...]:
    names = enumerate(load_topics(), 1)
    return tuple(
        [name for number, name in names if side is None or (number % TOPICS == 0) == (side == "unseen")]
    )


def is_of(phrase: str, side: Side) -> bool:
    return (phrase in _unseen_phrases()) == (side == "unseen")


def structure_of(skeleton: str) -> Side:
    return "unseen" if any(map(_is_held_out, shapes_of(skeleton))) else "seen"


def shapes_of(skeleton: str) -> list[str]:
    """The sentences of a skeleton without their actions, times, numbers and values."""
    return [_shape(sentence) for sentence in _SENTENCE.split(skeleton)]


def _shape(sentence: str) -> str:
    numbers = dict[str, str]()
    text = _ACTION.sub(lambda found: numbers.setdefault(found[0], f"a{len(numbers) + 1}"), sentence)
    for name, pattern in _DETAILS.items():
        text = pattern.sub(name, text)
    return text


@cache
def _is_held_out(shape: str) -> bool:
    if "VP" not in shape or f"a{LEAST_ACTIONS}" not in shape:
        return False
    return hashlib.blake2b(shape.encode(), digest_size=1).digest()[0] % SHAPES == 0


@cache
def _unseen_phrases() -> frozenset[str]:
    lists = list(_lists(msgspec.to_builtins(load_lexicon())))
    chosen = [entry for entries in lists for entry in entries[PHRASES - 1 :: PHRASES]]
    words = "|".join([re.escape(form) for forms in chosen for form in forms])
    said = re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    return frozenset([entry[0] for entries in lists for entry in entries if any(map(said.search, entry))])


def _lists(part: Any) -> Iterator[list[tuple[str, ...]]]:
    """The lists of phrases in a lexicon, at any depth; each phrase in all forms, its name first."""
    if isinstance(part, dict):
        for inner in part.values():
            yield from _lists(inner)
    elif isinstance(part, Iterable) and not isinstance(part, str):
        for_each = [{"text": entry} if isinstance(entry, str) else entry for entry in part]
        yield [tuple([entry[field] for field in _FORMS if field in entry]) for entry in for_each]
