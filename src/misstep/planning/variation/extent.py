"""The size of a request, and smaller versions of it: fewer actions, sentences or characters."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import pairwise

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.clarity import joined
from misstep.planning.language.requests import load_requests, write_request, write_rules
from misstep.planning.language.syntax import Clause
from misstep.planning.synthesis.paragraphs import MOST_PARTS
from misstep.planning.variation.anatomy import Anatomy, Worded, demands_of, said_in, saying
from misstep.planning.variation.lines import forget
from misstep.planning.variation.phrasing import NothingLeft, say

FEWEST_ACTIONS = 2
FEWEST_CHARACTERS = 300  # in nearly every request
STEP = 100  # characters between two lengths that are distinguished
TRIES = 6

ACTIONS, SENTENCES, CHARACTERS = "actions", "sentences", "characters"


def extents_of(anatomy: Anatomy) -> Iterator[str]:
    """Every threshold that a request reaches, such as `5 actions or more`.

    Thresholds that every request reaches are left out.
    """
    for least in range(FEWEST_ACTIONS + 1, len(anatomy.actions) + 1):
        yield threshold(least, ACTIONS)
    for least in range(2, len(anatomy.paragraph) + 1):
        yield threshold(least, SENTENCES)
    for least in range(FEWEST_CHARACTERS, length_of(anatomy) + 1, STEP):
        yield threshold(least, CHARACTERS)


def threshold(least: int, unit: str) -> str:
    return f"{least} {unit} or more"


def least_of(names: Collection[str], unit: str) -> int | None:
    """The lowest of the thresholds in a unit; None if there is none."""
    found = [int(name.split()[0]) for name in names if name.endswith(f" {unit} or more")]
    return min(found, default=None)


def length_of(anatomy: Anatomy) -> int:
    rules = write_rules(demands_of(anatomy), anatomy.world, len(anatomy.distractors), anatomy.has_own_tools)
    sentences = say(anatomy.paragraph, anatomy.names, anatomy.words)
    return len(write_request(anatomy.request, anatomy.topic, sentences, rules))


def smallest(anatomy: Anatomy) -> Anatomy:
    """A request that is about as small as this one can become."""
    dice = Dice(anatomy.seed)
    small = anatomy
    with suppress(NothingLeft):
        small = with_fewer_actions(anatomy, min(FEWEST_ACTIONS, len(anatomy.actions)), dice)
    templates = [msgspec.structs.replace(small, request=each) for each in load_requests().templates]
    return min(templates, key=length_of)


def with_fewer_actions(anatomy: Anatomy, most: int, dice: Dice) -> Anatomy:
    """The problem without some of its actions, but with constraints left; `NothingLeft` if impossible."""
    numbers = range(len(anatomy.actions))
    if most >= len(numbers):
        return anatomy
    for _ in range(TRIES):
        gone = {*dice.sample(numbers, len(numbers) - most)}
        smaller = forget(anatomy, gone)
        if smaller and len(smaller.actions) == most and demands_of(smaller):
            return smaller
    raise NothingLeft(f"no {most} of the actions make a problem of their own")


def with_fewer_sentences(anatomy: Anatomy, most: int, dice: Dice) -> Anatomy:
    """The same in fewer sentences, by joining some; if that is not enough, with fewer actions."""
    for small in _ever_smaller(anatomy, dice):
        said = said_in(small)
        while len(said) > most:
            pairs = [(*one.sentence.parts, *other.sentence.parts) for one, other in pairwise(said)]
            ways = [
                at
                for at, parts in enumerate(pairs)
                if len(parts) <= MOST_PARTS and all([isinstance(part, Clause) for part in parts])
            ]
            if not ways:
                break
            at = dice.pick(ways)
            one, other = said[at : at + 2]
            sentence, words = joined(pairs[at], dice), (*one.words, *other.words)
            said[at : at + 2] = [Worded(sentence, words, one.redundant and other.redundant)]
        if len(said) <= most:
            return saying(small, said)
    raise NothingLeft(f"it can't be said in {most} sentences")


def with_fewer_characters(anatomy: Anatomy, below: int, dice: Dice) -> Anatomy:
    """The same with a shorter request template; if that is not enough, with fewer actions."""
    templates = dice.shuffled([*load_requests().templates])
    for small in _ever_smaller(anatomy, dice):
        for template in templates:
            other = msgspec.structs.replace(small, request=template)
            if length_of(other) < below:
                return other
    raise NothingLeft(f"it can't be said in fewer than {below} characters")


def _ever_smaller(anatomy: Anatomy, dice: Dice) -> Iterator[Anatomy]:
    """The problem, then with fewer and fewer actions."""
    for most in range(len(anatomy.actions), FEWEST_ACTIONS - 1, -1):
        with suppress(NothingLeft):
            anatomy = with_fewer_actions(anatomy, most, dice)
            yield anatomy
