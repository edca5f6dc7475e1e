"""Sets judged again with fewer checks, out of what has been kept of them."""

from collections.abc import Collection

from msgspec import structs

from misstep.core.consistency import Buckets, Check, PromptSet
from misstep.tooling.asking.consistency.buckets import calls_of
from misstep.tooling.asking.consistency.evidence import find_evidence
from misstep.tooling.asking.consistency.inquiry import incomparable
from misstep.tooling.asking.consistency.verdict import consistency_says, judge_says, settle


def judge_again(one: PromptSet, checks: Collection[Check]) -> PromptSet:
    """The set as it would be if only these checks had a say.

    Where the judge is to have one, it must have had one before, and no other check, for it is not asked about
    sets that others have passed.
    """
    tool = next((use.tool for trial in one.trials for use in trial.uses), "")
    declined = {each.request for each in one.declined} if "judge" in checks else ()
    trials = {
        number: each
        for number, each in enumerate(one.trials, 1)
        if not incomparable(each, tool) and (calls_of(each, tool) or number in declined)
    }
    if not any([calls_of(trial, tool) for trial in trials.values()]):
        return structs.replace(one, verdict="inconclusive", evidence=None)
    deciding, complete = _of(one.normalised or one.buckets, trials), len(trials) == len(one.trials)
    said = [
        consistency_says(found, complete)
        for check, found in (("inputs", deciding.inputs), ("outputs", deciding.outputs))
        if check in checks
    ]
    if "judge" in checks:
        said.append(judge_says(one.scores, complete and len(one.scores) == len(trials)))
    verdict = settle(said)
    scores = one.scores if "judge" in checks else ()
    evidence = find_evidence(trials, tool, deciding, scores) if verdict == "failed" else None
    return structs.replace(one, verdict=verdict, evidence=evidence)


def _of(buckets: Buckets, trials: Collection[int]) -> Buckets:
    """The buckets with these trials alone; those without a call are in buckets of their own."""
    inputs, outputs = [
        tuple(each for each in found if set(each.requests) <= set(trials))
        for found in (buckets.inputs, buckets.outputs)
    ]
    return Buckets(inputs, outputs)
