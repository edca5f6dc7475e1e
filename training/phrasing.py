"""Rewords sentences with more phrases than misstep's lexicon has.

A model that has seen eight ways to say "before" knows only those eight. These phrases are for training only.
"""

import tomllib
from functools import cache
from pathlib import Path

import msgspec

from misstep.core.case import Case
from misstep.core.rng import Dice
from misstep.planning.language.rendering import Draw, Option, fresh_phrases, write
from misstep.planning.language.skeletons import read_skeleton

RATE = 0.45  # share of slots that get an additional phrase, if there are any for them


@cache
def more_phrases() -> dict[str, tuple[str, ...]]:
    """Additional phrases by a phrase of the lexicon for the same slot; `one|many` if the plural differs."""
    slots = tomllib.loads((Path(__file__).parent / "phrases.toml").read_text("utf-8"))["slots"]
    return {slot["like"]: tuple(slot["more"]) for slot in slots}


def more_words(dice: Dice) -> Draw:
    """Draw from the lexicon or from the additional phrases."""
    usual = fresh_phrases(dice, "seen")

    def draw(options: tuple[Option, ...]) -> Option:
        known = {option.one for option in options}
        found = next((more for phrase, more in more_phrases().items() if phrase in known), None)
        if found is None or not dice.chance(RATE):
            return usual(options)
        one, _, many = dice.pick(found).partition("|")
        return Option(one, many or one, (one,))

    return draw


def reworded(case: Case, dice: Dice) -> Case:
    """The same problem with reworded sentences."""
    paragraph = read_skeleton(case.skeleton, case.constraints)
    sentences = write(paragraph, [action.name for action in case.actions], more_words(dice))
    query = case.query
    for old, new in zip(case.sentences, sentences, strict=True):
        query = query.replace(old, new, 1)
    return msgspec.structs.replace(case, query=query, sentences=sentences)
