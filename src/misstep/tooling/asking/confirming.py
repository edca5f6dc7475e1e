"""Tells errors of tools that requests have led to from bad days of whatever the tools run on."""

from collections.abc import Sequence

from msgspec import structs

from misstep.core.finding import RUNTIME_ERRORS
from misstep.core.ruling import Judged
from misstep.core.tool import Invocation
from misstep.core.trial import Trial, Use
from misstep.tooling.asking.parties import Trials
from misstep.tooling.triage.replay import is_same

REPLAYS = 3  # from a fresh start, until an error shows itself again


def shows_defect(use: Use) -> bool:
    """Whether what came of a call is an error of the tool's at run time."""
    return use.judged.ruling in RUNTIME_ERRORS


async def confirmed(trial: Trial, trials: Trials) -> Trial:
    """The trial, in which errors that can't be shown again from a fresh start are the environment's."""
    uses = list(trial.uses)
    for place, use in enumerate(trial.uses):
        if shows_defect(use):
            uses[place] = await _replayed(use, trial.calls_up_to(place), trials)
    return structs.replace(trial, uses=tuple(uses))


async def _replayed(use: Use, calls: Sequence[Invocation], trials: Trials) -> Use:
    for times in range(1, REPLAYS + 1):
        if is_same(await trials.make(calls), use.judged):
            return structs.replace(use, replayed=times, reproduced=1)
    why = f"{use.judged.error} was seen, but not again from a fresh start"
    return structs.replace(use, judged=Judged("environment", why), replayed=REPLAYS)
