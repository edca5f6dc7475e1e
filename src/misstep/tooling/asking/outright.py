"""Asks a model outright for requests that crash a tool, for fuzzing to be measured against."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Literal

from misstep.core.model import Unusable
from misstep.core.passage import Fate, Passage
from misstep.core.template import fenced
from misstep.core.tool import Described
from misstep.core.trial import Trial
from misstep.tooling.asking.confirming import confirmed, shows_defect
from misstep.tooling.asking.documentation import documentation_of
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.passage import requests_reader, told, trouble_with
from misstep.tooling.asking.prompts import Stage

AT_A_TIME = 10  # requests that a model is asked for

Outright = Literal["greybox", "whitebox"]

_STAGES: dict[Outright, Stage] = {"greybox": "crashes-greybox", "whitebox": "crashes-whitebox"}


async def ask_for_crashes(
    means: Outright, tool: Described, models: Models, trials: Trials, count: int, before: Sequence[str] = ()
) -> AsyncGenerator[Passage]:
    """Up to so many requests, each run by the agent, those included that there were `before`.

    None is made twice. Where no more can be had, the last passage says why.
    """
    if means == "whitebox" and tool.source is None:
        yield _nothing("the source of the tool is not known")
        return
    used = list(before)
    while len(used) < count:
        try:
            wanted = min(AT_A_TIME, count - len(used))
            made = await _asked(means, tool, models, wanted, used)
        except Unusable as error:
            yield _nothing(f"no {'more ' if used else ''}requests were made: {told(error)}")
            return
        for request in made:
            used.append(request)
            yield passage_of(await confirmed(await trials.run(request, [tool.name]), trials))


def passage_of(trial: Trial) -> Passage:
    """What came of a request that began with nothing known about the tool."""
    if any(shows_defect(use) for use in trial.uses):
        return Passage("", "reached", matter="request", requests=(trial.request,), trials=(trial,))
    why = trouble_with(trial)
    fate: Fate = "inconclusive" if why else "unmet"
    return Passage("", fate, why, matter="request", requests=(trial.request,), trials=(trial,))


def _nothing(why: str) -> Passage:
    return Passage("", "inconclusive", why, matter="request")


async def _asked(
    means: Outright, tool: Described, models: Models, wanted: int, used: Sequence[str]
) -> tuple[str, ...]:
    return await models.ask(
        "generator",
        _STAGES[means],
        requests_reader(wanted, used),
        tools=documentation_of([tool], with_source=means == "whitebox"),
        used=fenced(json.dumps(used, ensure_ascii=False, indent=1) if used else "(none)"),
        count=str(wanted),
    )
