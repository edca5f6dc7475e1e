"""Puts sentences so that the text first speaks of actions in an order in which they may be carried out."""

from collections.abc import Iterator, Sequence
from itertools import product

import msgspec

from misstep.planning.language.clarity import is_clear
from misstep.planning.language.remarks import Duty, Neighbours
from misstep.planning.language.semantics import Relation
from misstep.planning.language.syntax import OPPOSITE, Clause, Sentence, SubSentence
from misstep.planning.variation.mentions import mentions
from misstep.planning.variation.phrasing import Drawn, draw_words, options_of
from misstep.planning.variation.rewriting.clauses import phrased, turned
from misstep.planning.variation.rewriting.restructuring import parts_of, put_together
from misstep.planning.variation.words import Choosing, Keeping, Worded


def arranged(said: Sequence[Worded], pairs: Sequence[Relation], choosing: Choosing) -> list[Worded]:
    """The sentences so that the first of each two related actions is the first to be mentioned.

    They are put in another order and turned round as far as needed. Where that is not enough, a sentence that
    demands nothing mentions an action beforehand. The relations must not contradict each other.
    """
    waiting, told, mentioned = list(said), list[Worded](), set[int]()
    while waiting:
        number, way = _next(waiting, pairs, mentioned, choosing)
        if way is None:
            way = _mention(_free(waiting, pairs, mentioned), choosing)
        else:
            del waiting[number]
        told.append(way)
        mentioned.update(mentions(way.sentence, way.words))
    return told


def _next(
    waiting: Sequence[Worded], pairs: Sequence[Relation], mentioned: set[int], choosing: Choosing
) -> tuple[int, Worded | None]:
    """The first sentence that may come now, in the first way in which it may."""
    for number, each in enumerate(waiting):
        for way in _ways(each, choosing):
            if _may_come(way, pairs, mentioned):
                return number, way
    return -1, None


def _may_come(said: Worded, pairs: Sequence[Relation], mentioned: set[int]) -> bool:
    known = set(mentioned)
    for action in mentions(said.sentence, said.words):
        if any([then == action and first not in known for first, then in pairs]) and action not in known:
            return False
        known.add(action)
    return True


def _free(waiting: Sequence[Worded], pairs: Sequence[Relation], mentioned: set[int]) -> int:
    """An action that is still to be mentioned, and before which nothing is that has not been."""
    left = [action for each in waiting for action in mentions(each.sentence, each.words)]
    left = [action for action in left if action not in mentioned]
    earlier = {action: [first for first, then in pairs if then == action] for action in left}
    return next(action for action in left if mentioned.issuperset(earlier[action]))


def _mention(action: int, choosing: Choosing) -> Worded:
    sentence = Sentence((Duty((action,)),))
    return Worded(sentence, draw_words(sentence, choosing))


def _ways(said: Worded, choosing: Choosing) -> Iterator[Worded]:
    """The sentence as it is, and then turned round in every way that leaves its forms as they are."""
    yield said
    ways = [list(_part_ways(part, words, choosing)) for part, words in parts_of(said)]
    for chosen in product(*ways):
        yield put_together(chosen, said)


def _part_ways(part: SubSentence, words: Drawn, choosing: Choosing) -> Iterator[tuple[SubSentence, Drawn]]:
    yield part, words
    if isinstance(part, Clause):
        other = turned(phrased(part, words))
        if is_clear(other.clause):
            yield other.clause, other.words(choosing)
    elif isinstance(part, Neighbours):
        swapped = msgspec.structs.replace(
            part, direction=OPPOSITE[part.direction], subject=part.object, object=part.subject
        )
        yield swapped, draw_words(Sentence((swapped,)), Keeping(words, choosing))
    else:
        yield from ((part, other) for other in _other_frames(part, words, choosing))


def _other_frames(part: SubSentence, words: Drawn, choosing: Choosing) -> Iterator[Drawn]:
    """The words with other frames, which may name actions in another order."""
    for number, options in enumerate(options_of(Sentence((part,)))):
        for option in options:
            if "{" in option.one and option != words[number] and not choosing.avoids(option):
                yield (*words[:number], option, *words[number + 1 :])
