"""Asks a model directly for requests that a tool answers wrongly, as a baseline for paraphrase sets."""

from collections.abc import AsyncGenerator, Sequence

from misstep.core.model import Unusable, fenced
from misstep.core.outcome import Judgement
from misstep.core.results.consistency import Buckets, PromptSet, set_id
from misstep.core.results.trial import Trial
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models, told
from misstep.fuzzing.agent_tests.prompts import MOST_SHOWN
from misstep.fuzzing.agent_tests.requests import Outright, ask_outright, lacking
from misstep.fuzzing.consistency.buckets import calls_of, find_evidence, sort_into_buckets
from misstep.fuzzing.consistency.forms import CORRECTNESS
from misstep.fuzzing.consistency.inquiry import incomparable


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
        yield _unmade(tool, why)
        return
    requests = ideas if ideas is not None else []
    try:
        requests += () if requests else await ask_outright("answers", means, tool, models, count)
    except Unusable as error:
        yield _unmade(tool, f"no requests were made: {told(error)}")
        return
    put = {request for each in before for request in each.requests}
    for request in [each for each in requests if each not in put]:
        yield await examine_request(request, tool, models, trials)


async def examine_request(request: str, tool: Described, models: Models, trials: AgentTrials) -> PromptSet:
    """Run and judge one request that has no paraphrases."""
    return await _examined(await trials.run(request, [tool.name]), tool.name, models)


def _unmade(tool: Described, why: str) -> PromptSet:
    return PromptSet(set_id(tool.name, ()), "inconclusive", why)


async def _examined(trial: Trial, tool: str, models: Models) -> PromptSet:
    verdict, why = await _verdict(trial, tool, models)
    buckets = sort_into_buckets({1: trial}, tool) if trial.is_usable else Buckets()
    return PromptSet(
        set_id(tool, [trial.request]),
        verdict,
        why,
        requests=(trial.request,),
        trials=(trial,),
        buckets=buckets,
        evidence=find_evidence({1: trial}, tool, buckets) if verdict == "failed" else None,
    )


async def _verdict(trial: Trial, tool: str, models: Models) -> tuple[Judgement, str]:
    if trouble := incomparable(trial, tool):
        return "inconclusive", trouble
    if not calls_of(trial, tool):
        return "inconclusive", "the agent never called the tool"
    try:
        found = await models.ask(
            "judge",
            "correct",
            CORRECTNESS,
            request=fenced(trial.request),
            answer=fenced(cut(trial.answer, MOST_SHOWN)),
        )
    except Unusable as error:
        return "inconclusive", f"the answer was not judged: {told(error)}"
    return ("passed" if found.correct else "failed"), found.reason
