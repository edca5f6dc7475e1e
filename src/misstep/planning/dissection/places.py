"""Where in the text a failure shows, held against where a suspect stands."""

from collections.abc import Collection, Mapping
from math import comb

from misstep.core.outcome import Outcome
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.elements import Element, where

# How often something that is misread shows in a breach of what the sentence with it demands.
_SHOWS = 0.9


def weigh_places(anatomy: Anatomy, suspects: Collection[Element], outcome: Outcome) -> Mapping[Element, float]:
    """How much more likely each suspect makes the sentences that were broken than anybody else does.

    Given how many sentences were broken, any are as likely to be for all other hypotheses; a suspect that
    has brought about the failure has most probably broken one that it stands in. Where all sentences are
    broken, or it stands in all, that says nothing.
    """
    constraints = outcome.case.constraints
    broken = {constraints[index].sentence for index in outcome.verdict.violated} - {None}
    if not broken:
        return {}
    size = len(anatomy.paragraph)
    found = dict[Element, float]()
    for element in suspects:
        places = {*where(anatomy, element)}
        misses = comb(size - len(places), len(broken)) / comb(size, len(broken))
        if places and 0 < misses:
            found[element] = _SHOWS / (1 - misses) if places & broken else (1 - _SHOWS) / misses
    return found
