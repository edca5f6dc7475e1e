"""Runs paraphrased requests through an agent and judges whether the tool is at fault, also once stored."""

import json
from collections.abc import AsyncGenerator, Collection, Sequence

from msgspec import structs

from misstep.core.model import Unusable, fenced
from misstep.core.outcome import Judgement
from misstep.core.results.consistency import (
    THRESHOLD,
    Buckets,
    Check,
    Decline,
    Expectation,
    PromptSet,
    Score,
    set_id,
)
from misstep.core.results.trial import Trial
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import SHOWN, AgentTrials, Models, told, trouble_with
from misstep.fuzzing.agent_tests.prompts import MOST_SHOWN, documentation_of, listed
from misstep.fuzzing.agent_tests.requests import Outright, ask_outright, lacking
from misstep.fuzzing.consistency import making
from misstep.fuzzing.consistency.buckets import (
    buckets_say,
    calls_of,
    find_evidence,
    judge_says,
    outputs_in_words,
    settle,
    sort_into_buckets,
)
from misstep.fuzzing.consistency.making import Approach, SetDraft

SILENT = ("hang", "protocol")  # rulings on calls without an answer
DOUBTS = {
    "contradiction": "the judge's answers contradict each other",
    "guess": "only a guess contradicts the answer",
}
ENDINGS = ("process died", "memory", "CPU")  # errors that leave no result to compare


async def examine_set(
    draft: SetDraft, tool: Described, models: Models, trials: AgentTrials, approach: Approach
) -> PromptSet:
    """Run and judge a set: it fails only if every check finds a fault. Models are asked only where needed."""
    if draft.why:
        name = set_id(tool.name, draft.requests or (draft.template,))
        return PromptSet(name, "inconclusive", draft.why, draft.template, draft.infills, draft.requests)
    made = [await trials.run(request, [tool.name]) for request in draft.requests]
    return await _Inquiry(draft, tool, models, made, approach).judge()


def incomparable(trial: Trial, tool: str) -> str:
    """Why a trial cannot be compared with others; empty if it can."""
    uses = tuple(calls_of(trial, tool))
    if trouble := trouble_with(structs.replace(trial, uses=uses)):
        return trouble
    silent = [use for use in uses if use.judged.ruling in SILENT or use.judged.error in ENDINGS]
    return f"the tool did not answer: {cut(silent[0].judged.why, SHOWN)}" if silent else ""


class _Inquiry:
    """Judges a set that has been run. Trials that cannot be compared are left out of `_trials`."""

    def __init__(
        self, draft: SetDraft, tool: Described, models: Models, made: Sequence[Trial], approach: Approach
    ) -> None:
        self._draft, self._tool, self._models, self._made = draft, tool, models, tuple(made)
        self._checks, self._normalise = approach.checks, approach.normalise
        found = {number: incomparable(trial, tool.name) for number, trial in enumerate(made, 1)}
        self._trouble = [f"request {number}: {why}" for number, why in found.items() if why]
        self._trials = {number: made[number - 1] for number, why in found.items() if not why}
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
        said = buckets_say(self._deciding, self._checks, complete=not self._trouble)
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
            why = f"{why}, and the reason could not be determined: {told(error)}"
        self._trouble.append(f"request {number}: {why}")
        del self._trials[number]

    async def _ask_judge(self) -> bool | None:
        try:
            requests = [trial.request for trial in self._trials.values()]
            self._expectation = await expect(requests, self._tool, self._models)
        except Unusable as error:
            self._trouble.append(f"no expectation could be formed: {told(error)}")
            return None
        for number, trial in self._trials.items():
            about = trial, self._tool.name, self._expectation
            try:
                self._scores.append(await judge_answer(number, *about, self._models))
            except Unusable as error:
                self._trouble.append(f"request {number}: not scored: {told(error)}")
        return judge_says(self._scores, complete=not self._trouble)

    def _reason(self, verdict: Judgement) -> str:
        if verdict == "inconclusive":
            doubted = [score for score in self._scores if score.says in DOUBTS]
            doubts = [f"request {score.request}: {DOUBTS[score.says]}" for score in doubted]
            return "; ".join((*self._trouble, *doubts))
        inputs, outputs = len(self._deciding.inputs), len(self._deciding.outputs)
        said = [f"buckets: {inputs} of inputs, {outputs} of outputs"]
        said += [
            f"request {each.request} declined because the documentation says “{cut(each.quote, SHOWN)}”"
            for each in self._declined.values()
        ]
        if self._scores:
            wrong = sum(score.says == "wrong" for score in self._scores)
            said.append(f"answers judged wrong: {wrong} of {len(self._scores)}")
        return "; ".join(said)

    def _ended(self, verdict: Judgement, why: str) -> PromptSet:
        evidence = None
        if verdict == "failed":
            evidence = find_evidence(self._trials, self._tool.name, self._deciding, self._scores)
        name, draft = set_id(self._tool.name, self._draft.requests), self._draft
        declined = tuple(self._declined.values())
        judged = self._buckets, self._normalised, self._expectation, tuple(self._scores), evidence, declined
        return PromptSet(
            name, verdict, why, draft.template, draft.infills, draft.requests, self._made, *judged
        )


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
    buckets, complete = one.normalised or one.buckets, len(trials) == len(one.trials)
    sorts = buckets.inputs, buckets.outputs  # of them, those that contain only these trials
    whole = [tuple(each for each in found if set(each.requests) <= set(trials)) for found in sorts]
    deciding = Buckets(*whole)
    said = buckets_say(deciding, checks, complete)
    if "judge" in checks:
        said.append(judge_says(one.scores, complete and len(one.scores) == len(trials)))
    verdict = settle(said)
    scores = one.scores if "judge" in checks else ()
    evidence = find_evidence(trials, tool, deciding, scores) if verdict == "failed" else None
    return structs.replace(one, verdict=verdict, evidence=evidence)


EXPECTED = "Expected result according to the tool's documentation"


async def expect(requests: Sequence[str], tool: Described, models: Models) -> Expectation:
    """Predict the tool's answer to each request, and state what most of the predictions agree on.

    Raises `Unusable` if at least half of them have no answer, or if they have nothing in common.
    """
    answers, trouble = list[making.Predicted](), list[Unusable]()
    documented = documentation_of([tool])
    for request in requests:
        try:
            about = {"tools": documented, "request": fenced(request)}
            answers.append(await models.ask("judge", "emulate", making.PREDICTED, **about))
        except Unusable as error:
            trouble.append(error)
    if 2 * len(trouble) >= len(requests) and trouble:
        raise trouble[0]
    said = tuple(each.answer for each in answers)
    statement = await models.ask("judge", "majority", making.STATEMENT, answers=listed(said))
    return Expectation(said, statement, 2 * sum(each.guess for each in answers) >= len(answers))


async def judge_answer(number: int, trial: Trial, tool: str, expected: Expectation, models: Models) -> Score:
    """Score how well an answer agrees with the tool's output and with what was expected.

    An answer is wrong only if the judge says so for both orders of the two, and not by a guess alone. Raises
    `Unusable`.
    """
    kind = "This expectation is a guess; it can't be known without the tool" if expected.guessed else EXPECTED
    known = (
        f"What the tool returned:\n{fenced(outputs_in_words(trial, tool, MOST_SHOWN))}",
        f"{kind}:\n{fenced(expected.statement)}",
    )
    first = await _score(trial, known[0], known[1], models)
    if first.score >= THRESHOLD:
        return Score(number, first.score, first.reason)
    second = await _score(trial, known[1], known[0], models)
    is_guess = first.guess or second.guess
    return Score(number, first.score, first.reason, second.score, second.reason, is_guess)


async def find_decline(number: int, trial: Trial, tool: Described, models: Models) -> Decline | None:
    """The words of the documentation because of which the agent did not call the tool, or None.

    A judge must quote them, and the quotation must be in the documentation. Raises `Unusable`.
    """
    if not trial.answer.strip():
        return None
    about = {"tools": documentation_of([tool]), **_about(trial)}
    found = await models.ask("judge", "declined", making.DECLINED, **about)
    words = making.alike(found.quote)  # several of them, ignoring white space and case
    documented = [tool.tool.description, json.dumps(tool.tool.parameters, ensure_ascii=False)]
    is_there = " " in words and any(words in making.alike(each) for each in documented)
    return Decline(number, found.quote.strip()) if found.declined and is_there else None


async def _score(trial: Trial, first: str, second: str, models: Models) -> making.Scored:
    return await models.ask("judge", "judge", making.SCORE, **_about(trial), first=first, second=second)


def _about(trial: Trial) -> dict[str, str]:
    return {"request": fenced(trial.request), "answer": fenced(cut(trial.answer, MOST_SHOWN))}


async def ask_for_wrong_answers(
    means: Outright,
    tool: Described,
    models: Models,
    trials: AgentTrials,
    count: int,
    before: Sequence[PromptSet] = (),
    ideas: list[str] | None = None,
) -> AsyncGenerator[PromptSet]:
    """Run up to `count` such requests, each as a set of one, which fails if a model finds the answer wrong.

    `ideas` are requests that the model has proposed already, including those run `before`. If there are none,
    the model is asked and its requests are appended.
    """
    if why := lacking(means, tool):
        yield PromptSet(set_id(tool.name, ()), "inconclusive", why)
        return
    requests = ideas if ideas is not None else []
    try:
        requests += () if requests else await ask_outright("answers", means, tool, models, count)
    except Unusable as error:
        why = f"no requests were generated: {told(error)}"
        yield PromptSet(set_id(tool.name, ()), "inconclusive", why)
        return
    put = {request for each in before for request in each.requests}
    for request in [each for each in requests if each not in put]:
        yield await examine_request(request, tool, models, trials)


async def examine_request(request: str, tool: Described, models: Models, trials: AgentTrials) -> PromptSet:
    """Run and judge one request that has no paraphrases."""
    trial = await trials.run(request, [tool.name])
    verdict: Judgement = "inconclusive"
    if not (why := incomparable(trial, tool.name)):
        try:
            why = "the agent never called the tool"
            if calls_of(trial, tool.name):
                verdict, why = await judge_correctness(trial, models)
        except Unusable as error:
            why = f"the answer was not judged: {told(error)}"
    buckets = sort_into_buckets({1: trial}, tool.name) if trial.is_usable else Buckets()
    evidence = find_evidence({1: trial}, tool.name, buckets) if verdict == "failed" else None
    name, asked, made = set_id(tool.name, [trial.request]), (trial.request,), (trial,)
    return PromptSet(name, verdict, why, "", {}, asked, made, buckets, evidence=evidence)


async def judge_correctness(trial: Trial, models: Models) -> tuple[Judgement, str]:
    """Whether a judge finds the answer right, without knowing what to expect. Raises `Unusable`."""
    found = await models.ask("judge", "correct", making.CORRECTNESS, **_about(trial))
    return ("passed" if found.correct else "failed"), found.reason
