"""Asks a model outright for requests that crash a tool, for fuzzing to be measured against."""

from collections.abc import AsyncGenerator, Sequence

from misstep.core.model import Unusable
from misstep.core.reach_attempt import ReachAttempt, ReachOutcome
from misstep.core.tool import Described
from misstep.core.trial import Trial
from misstep.tooling.asking.confirming import confirmed, shows_defect
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.requests import Outright, ask_outright, lacking
from misstep.tooling.asking.trouble import told, trouble_with

AT_A_TIME = 10  # requests that a model is asked for


async def ask_for_crashes(
    means: Outright,
    tool: Described,
    models: Models,
    trials: Trials,
    count: int,
    before: Sequence[str],
    ideas: list[str],
) -> AsyncGenerator[ReachAttempt]:
    """Up to so many requests, each run by the agent, those included that were run `before`.

    None is made twice. Where no more can be had, the last passage says why. `ideas` are those that the model
    has thought of already, run or not; new ones are added to the list, so that whoever keeps it can go on
    with them later.
    """
    if why := lacking(means, tool):
        yield _nothing(why)
        return
    run = list(before)
    ideas += [each for each in run if each not in ideas]
    while len(run) < count:
        waiting = [each for each in ideas if each not in run][: count - len(run)]
        try:
            wanted = min(AT_A_TIME, count - len(run))
            ideas += () if waiting else await ask_outright("crashes", means, tool, models, wanted, ideas)
        except Unusable as error:
            yield _nothing(f"no {'more ' if ideas else ''}requests were made: {told(error)}")
            return
        for request in waiting:
            run.append(request)
            yield passage_of(await confirmed(await trials.run(request, [tool.name]), trials))


def passage_of(trial: Trial) -> ReachAttempt:
    """What came of a request that began with nothing known about the tool."""
    if any(shows_defect(use) for use in trial.uses):
        return ReachAttempt("", "reached", matter="request", requests=(trial.request,), trials=(trial,))
    why = trouble_with(trial)
    fate: ReachOutcome = "inconclusive" if why else "unmet"
    return ReachAttempt("", fate, why, matter="request", requests=(trial.request,), trials=(trial,))


def _nothing(why: str) -> ReachAttempt:
    return ReachAttempt("", "inconclusive", why, matter="request")
