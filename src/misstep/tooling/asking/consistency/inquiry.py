"""Puts a set of requests that mean the same to an agent, to see whether its tool is at fault."""

from collections.abc import Mapping, Sequence

from misstep.core.consistency import Buckets, Expectation, PromptSet, Score, set_id
from misstep.core.model import Unusable
from misstep.core.tool import Described
from misstep.core.trial import Trial
from misstep.core.verdict import Judgement
from misstep.core.words import cut
from misstep.tooling.asking.consistency.approach import Approach
from misstep.tooling.asking.consistency.buckets import calls_of, sort_into_buckets
from misstep.tooling.asking.consistency.evidence import find_evidence
from misstep.tooling.asking.consistency.making import Draft, told
from misstep.tooling.asking.consistency.oracle import expect, judge_answer
from misstep.tooling.asking.consistency.verdict import consistency_says, judge_says, settle
from misstep.tooling.asking.parties import Models, Trials

SHOWN = 500  # characters of what broke
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


def trouble_with(trial: Trial, tool: str) -> str:
    """Why a trial tells nothing about the tool; empty if it does."""
    if not trial.is_usable:
        return f"the agent did not answer: {cut(trial.error or trial.ended, SHOWN)}"
    for use in calls_of(trial, tool):
        if use.judged.ruling == "environment":
            return f"the tool can't work here: {cut(use.judged.why, SHOWN)}"
        if use.judged.ruling in ("hang", "protocol") or use.judged.error in ENDINGS:
            return f"the tool gave no answer: {cut(use.judged.why, SHOWN)}"
    return ""


class _Inquiry:
    """A set that has been run, on its way to a verdict. Trials that tell nothing have no number."""

    def __init__(
        self, draft: Draft, tool: Described, models: Models, made: Sequence[Trial], approach: Approach
    ) -> None:
        self._draft, self._tool, self._models, self._made = draft, tool, models, tuple(made)
        self._checks = approach.checks
        found = {number: trouble_with(trial, tool.name) for number, trial in enumerate(made, 1)}
        self._trouble = [f"request {number}: {why}" for number, why in found.items() if why]
        self._trials: Mapping[int, Trial] = {
            number: made[number - 1] for number, why in found.items() if not why
        }
        self._buckets = sort_into_buckets(self._trials, tool.name)
        self._normalised: Buckets | None = None
        if approach.normalise is not None:
            self._normalised = sort_into_buckets(self._trials, tool.name, approach.normalise)
        self._deciding = self._normalised or self._buckets
        self._expectation: Expectation | None = None
        self._scores = list[Score]()

    async def judge(self) -> PromptSet:
        if not any(calls_of(trial, self._tool.name) for trial in self._trials.values()):
            return self._ended("inconclusive", "; ".join(self._trouble) or "the agent never called the tool")
        said = [
            consistency_says(found, complete=not self._trouble)
            for check, found in (("inputs", self._deciding.inputs), ("outputs", self._deciding.outputs))
            if check in self._checks
        ]
        if "judge" in self._checks and all(said):
            said.append(await self._ask_judge())
        verdict = settle(said)
        return self._ended(verdict, self._reason(verdict))

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
            split = [score.request for score in self._scores if score.says == "contradiction"]
            doubts = [f"request {number}: the judge contradicts itself" for number in split]
            return "; ".join((*self._trouble, *doubts))
        inputs, outputs = len(self._deciding.inputs), len(self._deciding.outputs)
        said = f"buckets: {inputs} of inputs, {outputs} of outputs"
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
        )
