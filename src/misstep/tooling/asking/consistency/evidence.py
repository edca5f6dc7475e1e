"""The least that shows a fault to somebody who has seen nothing else."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import permutations

from misstep.core.consistency import Bucket, Buckets, Evidence, Score, Side
from misstep.core.trial import Trial
from misstep.tooling.asking.consistency.buckets import inputs_in_words, outputs_in_words

COMPARED = 1_000  # characters of what two requests led to


def find_evidence(
    trials: Mapping[int, Trial], tool: str, buckets: Buckets, scores: Sequence[Score] = ()
) -> Evidence:
    """One that is wrong and one that is right if there are such, which differ in as much as they can."""
    judged = {score.request: score for score in scores}
    sides = [_side(number, trial, tool, judged.get(number)) for number, trial in trials.items()]

    def rank(pair: tuple[Side, Side]) -> tuple[bool, bool, int, float]:
        """The smaller, the more it shows."""
        wrong, right = pair
        return (
            not (wrong.number in judged and judged[wrong.number].says == "wrong"),
            not (right.number in judged and judged[right.number].says == "right"),
            _together(buckets.inputs, pair) + _together(buckets.outputs, pair),
            _likeness(wrong, right),
        )

    if len(sides) == 1:
        return Evidence(sides[0])
    return Evidence(*min(permutations(sides, 2), key=rank))


def _side(number: int, trial: Trial, tool: str, score: Score | None) -> Side:
    given, got = inputs_in_words(trial, tool), outputs_in_words(trial, tool)
    return Side(number, trial.request, given, got, trial.answer, score.score if score else None)


def _together(buckets: Sequence[Bucket], pair: tuple[Side, Side]) -> bool:
    return any(all(side.number in bucket.requests for side in pair) for bucket in buckets)


def _likeness(one: Side, other: Side) -> float:
    """How much of what the tool gave back is the same, from 0 to 1."""
    # By characters and not by pieces, which could take for ever.
    return SequenceMatcher(None, one.outputs[:COMPARED], other.outputs[:COMPARED]).quick_ratio()
