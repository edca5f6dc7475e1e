"""Puts a set of requests that mean the same to an agent, to see whether its tool is at fault."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from misstep.core.consistency import Buckets, Decline, Expectation, PromptSet, Score, set_id
from misstep.core.model import Unusable
from misstep.core.tool import Described
from misstep.core.trial import Trial
from misstep.core.verdict import Judgement
from misstep.core.words import cut
from misstep.tooling.asking.consistency.approach import Approach
from misstep.tooling.asking.consistency.buckets import calls_of, sort_into_buckets
from misstep.tooling.asking.consistency.evidence import find_evidence
from misstep.tooling.asking.consistency.making import Draft
from misstep.tooling.asking.consistency.oracle import expect, find_decline, judge_answer
from misstep.tooling.asking.consistency.verdict import consistency_says, judge_says, settle
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.trouble import SHOWN, told, trouble_with

SILENT = ("hang", "protocol")  # rulings on calls without an answer
DOUBTS = {
    "contradiction": "the judge contradicts itself",
    "guess": "nothing but a guess speaks against the answer",
}
ENDINGS = ("process died", "memory", "CPU")  # errors after which there is nothing to compare


async def examine_set(
    draft: Draft, tool: Described, models: Models, trials: Trials, approach: Approach
) -> PromptSet:
    """The verdict on a set: it has failed only if every check finds a fault. No model is asked in vain."""
    if draft.why:
        asked = draft.requests or (draft.template,)
        return PromptSet(
            set_id(tool.name, asked), "inconclusive", draft.why, draft.template, draft.infills, draft.requests
        )
    made = [await trials.run(request, [tool.name]) for request in draft.requests]
    return await _Inquiry(draft, tool, models, made, approach).judge()


def incomparable(trial: Trial, tool: str) -> str:
    """Why a trial tells nothing about what the tool answers; empty if it does."""
    uses = tuple(calls_of(trial, tool))
    if trouble := trouble_with(structs.replace(trial, uses=uses)):
        return trouble
    silent = [use for use in uses if use.judged.ruling in SILENT or use.judged.error in ENDINGS]
    return f"the tool gave no answer: {cut(silent[0].judged.why, SHOWN)}" if silent else ""


class _Inquiry:
    """A set that has been run, on its way to a verdict. Trials that tell nothing have no number."""

    def __init__(
        self, draft: Draft, tool: Described, models: Models, made: Sequence[Trial], approach: Approach
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
        """Leave a request out for which the tool was not called, unless its documentation is the reason."""
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
