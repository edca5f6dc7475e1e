"""Runs a set of paraphrased requests through an agent and judges whether the tool is at fault.

A stored set can be judged again with fewer checks, without running anything.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import structs

from misstep.core.model import Unusable
from misstep.core.outcome import Judgement
from misstep.core.results.consistency import Buckets, Check, Decline, Expectation, PromptSet, Score, set_id
from misstep.core.results.trial import Trial
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import SHOWN, AgentTrials, Models, told, trouble_with
from misstep.fuzzing.consistency.buckets import (
    calls_of,
    consistency_says,
    find_evidence,
    judge_says,
    settle,
    sort_into_buckets,
)
from misstep.fuzzing.consistency.making import Approach, SetDraft
from misstep.fuzzing.consistency.oracle import expect, find_decline, judge_answer

SILENT = ("hang", "protocol")  # rulings on calls without an answer
DOUBTS = {
    "contradiction": "the judge contradicts itself",
    "guess": "nothing but a guess speaks against the answer",
}
ENDINGS = ("process died", "memory", "CPU")  # errors that leave no result to compare


async def examine_set(
    draft: SetDraft, tool: Described, models: Models, trials: AgentTrials, approach: Approach
) -> PromptSet:
    """Run and judge a set: it fails only if every check finds a fault. Models are asked only where needed."""
    if draft.why:
        asked = draft.requests or (draft.template,)
        return PromptSet(
            set_id(tool.name, asked), "inconclusive", draft.why, draft.template, draft.infills, draft.requests
        )
    made = [await trials.run(request, [tool.name]) for request in draft.requests]
    return await _Inquiry(draft, tool, models, made, approach).judge()


def incomparable(trial: Trial, tool: str) -> str:
    """Why a trial cannot be compared with others; empty if it can."""
    uses = tuple(calls_of(trial, tool))
    if trouble := trouble_with(structs.replace(trial, uses=uses)):
        return trouble
    silent = [use for use in uses if use.judged.ruling in SILENT or use.judged.error in ENDINGS]
    return f"the tool gave no answer: {cut(silent[0].judged.why, SHOWN)}" if silent else ""


class _Inquiry:
    """Judges a set that has been run. Trials that cannot be compared are left out of `_trials`."""

    def __init__(
        self, draft: SetDraft, tool: Described, models: Models, made: Sequence[Trial], approach: Approach
    ) -> None:
        self._draft, self._tool, self._models, self._made = draft, tool, models, tuple(made)
        self._checks = approach.checks
        self._normalise = approach.normalise
        found = {number: incomparable(trial, tool.name) for number, trial in enumerate(made, 1)}
        self._trouble = [f"request {number}: {why}" for number, why in found.items() if why]
        self._trials: Mapping[int, Trial] = {
            number: made[number - 1] for number, why in found.items() if not why
        }
        self._sort()
        self._expectation: Expectation | None = None
        self._scores = list[Score]()
        self._declined = dict[int, Decline]()

    def _sort(self) -> None:
        self._buckets = sort_into_buckets(self._trials, self._tool.name)
        self._normalised: Buckets | None = None
        if self._normalise is not None:
            self._normalised = sort_into_buckets(self._trials, self._tool.name, self._normalise)
        self._deciding = self._normalised or self._buckets

    async def judge(self) -> PromptSet:
        silent = [number for number, trial in self._trials.items() if not calls_of(trial, self._tool.name)]
        if len(silent) == len(self._trials):
            return self._ended("inconclusive", "; ".join(self._trouble) or "the agent never called the tool")
        for number in silent:
            await self._explain(number)
        self._sort()
        said = [
            consistency_says(found, complete=not self._trouble)
            for check, found in (("inputs", self._deciding.inputs), ("outputs", self._deciding.outputs))
            if check in self._checks
        ]
        if "judge" in self._checks and all(said):
            said.append(await self._ask_judge())
        verdict = settle(said)
        return self._ended(verdict, self._reason(verdict))

    async def _explain(self, number: int) -> None:
        """Drop a request for which the tool was not called, unless the documentation is the reason."""
        why = "the agent did not call the tool"
        try:
            if "judge" in self._checks:
                decline = await find_decline(number, self._trials[number], self._tool, self._models)
                if decline is not None:
                    self._declined[number] = decline
                    return
        except Unusable as error:
            why = f"{why}, and nobody could say why: {told(error)}"
        self._trouble.append(f"request {number}: {why}")
        self._trials = {each: trial for each, trial in self._trials.items() if each != number}

    async def _ask_judge(self) -> bool | None:
        try:
            requests = [trial.request for trial in self._trials.values()]
            self._expectation = await expect(requests, self._tool, self._models)
        except Unusable as error:
            self._trouble.append(f"there is nothing to expect: {told(error)}")
            return None
        for number, trial in self._trials.items():
            try:
                self._scores.append(
                    await judge_answer(number, trial, self._tool.name, self._expectation, self._models)
                )
            except Unusable as error:
                self._trouble.append(f"request {number}: no score was given: {told(error)}")
        return judge_says(self._scores, complete=not self._trouble)

    def _reason(self, verdict: Judgement) -> str:
        if verdict == "inconclusive":
            doubts = [
                f"request {score.request}: {DOUBTS[score.says]}"
                for score in self._scores
                if score.says in DOUBTS
            ]
            return "; ".join((*self._trouble, *doubts))
        inputs, outputs = len(self._deciding.inputs), len(self._deciding.outputs)
        said = "; ".join(
            [
                f"buckets: {inputs} of inputs, {outputs} of outputs",
                *map(_in_words, self._declined.values()),
            ]
        )
        if not self._scores:
            return said
        wrong = [score for score in self._scores if score.says == "wrong"]
        return f"{said}; answers judged wrong: {len(wrong)} of {len(self._scores)}"

    def _ended(self, verdict: Judgement, why: str) -> PromptSet:
        evidence = None
        if verdict == "failed":
            evidence = find_evidence(self._trials, self._tool.name, self._deciding, self._scores)
        draft = self._draft
        return PromptSet(
            set_id(self._tool.name, draft.requests),
            verdict,
            why,
            draft.template,
            draft.infills,
            draft.requests,
            self._made,
            self._buckets,
            self._normalised,
            self._expectation,
            tuple(self._scores),
            evidence,
            tuple(self._declined.values()),
        )


def _in_words(decline: Decline) -> str:
    return f"request {decline.request} declined since the documentation says “{cut(decline.quote, SHOWN)}”"


def judge_again(one: PromptSet, checks: Collection[Check]) -> PromptSet:
    """Judge a stored set with these checks only.

    To include the judge, the set must have been judged with that check alone: it is not asked about sets that
    another check has passed.
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
    """The buckets that contain only these trials."""
    inputs, outputs = [
        tuple(each for each in found if set(each.requests) <= set(trials))
        for found in (buckets.inputs, buckets.outputs)
    ]
    return Buckets(inputs, outputs)
