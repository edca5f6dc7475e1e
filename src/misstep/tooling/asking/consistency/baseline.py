"""Asks a model outright for requests that a tool answers wrongly, for sets to be measured against."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal

from misstep.core.consistency import Buckets, PromptSet, set_id
from misstep.core.model import Unusable
from misstep.core.template import fenced
from misstep.core.tool import Described
from misstep.core.trial import Trial
from misstep.core.verdict import Judgement
from misstep.core.words import cut
from misstep.tooling.asking.consistency.buckets import calls_of, sort_into_buckets
from misstep.tooling.asking.consistency.evidence import find_evidence
from misstep.tooling.asking.consistency.forms import read_correctness
from misstep.tooling.asking.consistency.inquiry import trouble_with
from misstep.tooling.asking.consistency.making import told
from misstep.tooling.asking.documentation import MOST_SHOWN, documentation_of
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.passage import requests_reader
from misstep.tooling.asking.prompts import Stage

Baseline = Literal["greybox", "whitebox"]

_STAGES: dict[Baseline, Stage] = {"greybox": "answers-greybox", "whitebox": "answers-whitebox"}


async def ask_for_wrong_answers(
    means: Baseline,
    tool: Described,
    models: Models,
    trials: Trials,
    count: int,
    before: Sequence[PromptSet] = (),
    ideas: list[str] | None = None,
) -> AsyncGenerator[PromptSet]:
    """Up to so many requests, each a set of its own, which has failed if a model finds the answer wrong.

    `ideas` are requests that it has thought of already, those that were put `before` among them; otherwise
    they are added to the list.
    """
    if means == "whitebox" and tool.source is None:
        yield _unmade(tool, "the source of the tool is not known")
        return
    requests = ideas if ideas is not None else []
    try:
        requests += () if requests else await _thought_of(means, tool, models, count)
    except Unusable as error:
        yield _unmade(tool, f"no requests were made: {told(error)}")
        return
    put = {request for each in before for request in each.requests}
    for request in [each for each in requests if each not in put]:
        yield await examine_request(request, tool, models, trials)


async def examine_request(request: str, tool: Described, models: Models, trials: Trials) -> PromptSet:
    """The verdict on a request that has no equals."""
    return await _examined(await trials.run(request, [tool.name]), tool.name, models)


async def _thought_of(means: Baseline, tool: Described, models: Models, count: int) -> tuple[str, ...]:
    return await models.ask(
        "generator",
        _STAGES[means],
        requests_reader(count),
        tools=documentation_of([tool], with_source=means == "whitebox"),
        count=str(count),
    )


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
    if trouble := trouble_with(trial, tool):
        return "inconclusive", trouble
    if not calls_of(trial, tool):
        return "inconclusive", "the agent never called the tool"
    try:
        found = await models.ask(
            "judge",
            "correct",
            read_correctness,
            request=fenced(trial.request),
            answer=fenced(cut(trial.answer, MOST_SHOWN)),
        )
    except Unusable as error:
        return "inconclusive", f"the answer was not judged: {told(error)}"
    return ("passed" if found.correct else "failed"), found.reason
