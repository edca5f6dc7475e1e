"""What the checks of a set say, taken together."""

from collections.abc import Iterable, Sequence

from misstep.core.consistency import Bucket, Score
from misstep.core.verdict import Judgement

# A check says that there is a fault, that there is none, or nothing where that can't be decided.


def consistency_says(buckets: Sequence[Bucket], complete: bool) -> bool | None:
    """Whether requests differ in what came of them; those that are missing might have."""
    if len(buckets) > 1:
        return True
    return False if complete else None


def judge_says(scores: Iterable[Score], complete: bool) -> bool | None:
    """Whether an answer is wrong; those that the judge contradicts itself about, or guesses at, might be."""
    said = {score.says for score in scores}
    if "wrong" in said:
        return True
    return False if complete and said <= {"right"} else None


def settle(said: Iterable[bool | None]) -> Judgement:
    """A fault is one only if all say so, and there is none as soon as one says so."""
    said = list(said)
    if any([each is False for each in said]):
        return "passed"
    return "failed" if all(said) else "inconclusive"
