"""The order in which the text first speaks of actions, held against what it demands."""

import re
from collections.abc import Iterable, Sequence

from misstep.core.case import MOST_ACTIONS
from misstep.core.constraint import Adjacent, Before, Condition, Constraint, Handover
from misstep.planning.language.syntax import Sentence
from misstep.planning.variation.phrasing import Drawn, say

_NUMBER = re.compile(r"\0(\d+)\0")
_MARKS = tuple(f"\0{number}\0" for number in range(MOST_ACTIONS))


def mentions(sentence: Sentence, words: Drawn) -> list[int]:
    """The actions in the order in which a sentence first names them."""
    (text,) = say((sentence,), _MARKS, (words,))
    return list(dict.fromkeys([int(number) for number in _NUMBER.findall(text)]))


def relations_of(constraint: Constraint) -> list[tuple[str, str]]:
    """What a constraint that the request states puts before what."""
    match constraint:
        case Before(first, then, announced=""):
            return [(first, then)]
        case Adjacent(first, then) | Handover(first, then):
            return [(first, then)]
        case Condition(asks, _, then, otherwise):
            return [(asks, branch) for branch in (then, otherwise) if branch]
        case _:
            return []


def misplaced(
    constraints: Iterable[Constraint], ids: Sequence[str], mentioned: Sequence[int]
) -> list[Constraint]:
    """The constraints whose actions the text first names the other way round."""
    places = {ids[action]: place for place, action in enumerate(mentioned)}
    return [
        constraint
        for constraint in constraints
        if any(
            [
                first in places and then in places and places[then] < places[first]
                for first, then in relations_of(constraint)
            ]
        )
    ]
