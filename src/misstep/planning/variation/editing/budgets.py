"""Keeps a budget as tight as it was, though there is less to pay for."""

import msgspec

from misstep.planning.language.remarks import Spending
from misstep.planning.language.syntax import Paragraph, Sentence
from misstep.planning.plans.survey import least_cost
from misstep.planning.variation.anatomy import Anatomy, demands_of


def as_tight(smaller: Anatomy, before: Anatomy) -> Anatomy:
    """The smaller problem, with as much to spare for whoever chooses best as there was before."""
    if not any([_most(sentence) for sentence in smaller.paragraph]):
        return smaller
    was, now = _least_cost(before), _least_cost(smaller)
    if was is None or now is None:
        return smaller
    return msgspec.structs.replace(smaller, paragraph=_cheaper(smaller.paragraph, was - now))


def _least_cost(anatomy: Anatomy) -> int | None:
    return least_cost([action.id for action in anatomy.actions], demands_of(anatomy), anatomy.world)


def _cheaper(paragraph: Paragraph, by: int) -> Paragraph:
    return tuple(
        [
            Sentence((Spending(most - by),)) if (most := _most(sentence)) else sentence
            for sentence in paragraph
        ]
    )


def _most(sentence: Sentence) -> int:
    """What may be spent at most, if the sentence is about that."""
    part = sentence.parts[0]
    return part.most if isinstance(part, Spending) else 0
