"""Where in the text a failure shows, held against where a suspect stands."""

from collections.abc import Iterable
from math import comb

from misstep.core.outcome import Outcome
from misstep.planning.dissection.hypotheses import SAME_DEMANDS
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.elements import Element, where

# How often something that is misread shows in a breach of what the sentence with it demands.
_SHOWS = 0.9


def weigh_places(anatomy: Anatomy, suspects: Iterable[Element], outcome: Outcome) -> dict[Element, float]:
    """How much more likely each suspect makes it than anything else that just these sentences were broken.

    Given how many sentences were broken, of those that demand such things, any are as likely to be without
    the suspect; if it has brought about the failure, it has most probably broken one that it stands in. Where
    all are broken, or it stands in all or in none, that says nothing.
    """
    constraints = outcome.case.constraints
    breaches = [constraints[index] for index in outcome.verdict.violated]
    kinds = {type(breach) for breach in breaches}  # who breaks an order need not be near breaking a window
    demanding = {constraint.sentence for constraint in constraints if type(constraint) in kinds} - {None}
    broken = {breach.sentence for breach in breaches} - {None}
    found = dict[Element, float]()
    for element in suspects:
        if element.cause == "topic" or element == SAME_DEMANDS:
            continue
        places = demanding.intersection(where(anatomy, element))
        missed = comb(len(demanding) - len(places), len(broken)) / comb(len(demanding), len(broken))
        if 0 < missed < 1:
            found[element] = _SHOWS / (1 - missed) if places & broken else (1 - _SHOWS) / missed
    return found
