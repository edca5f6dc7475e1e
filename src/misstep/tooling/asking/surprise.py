"""Whether a refusal would surprise somebody who has read the documentation."""

import msgspec
from msgspec import structs

from misstep.core.answer_schema import form_of
from misstep.core.model import Unusable
from misstep.core.reach_attempt import ReachAttempt
from misstep.core.ruling import REFUSALS
from misstep.core.template import fenced
from misstep.core.trial import Trial
from misstep.core.words import cut
from misstep.tooling.asking.documentation import calls_in_words, documentation_for
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.trouble import SHOWN, told


class _Opinion(msgspec.Struct, frozen=True):
    reason: str
    surprising: bool


class _Second(msgspec.Struct, frozen=True):
    reason: str
    foreseen: bool


async def judge_refusal(
    passage: ReachAttempt, trial: Trial, place: int, models: Models, trials: Trials
) -> ReachAttempt:
    """The passage with what a judge says about the refusal of a call, the one at this place of a trial.

    It has to come again from a fresh start, and a judge that is surprised is asked the other way round.
    """
    calls = trial.calls_up_to(place)
    if (await trials.make(calls)).ruling not in REFUSALS:
        return structs.replace(passage, why="it was refused, but not again from a fresh start")
    about = {
        "tools": documentation_for(calls, trials.tools),
        "request": fenced(trial.request),
        "calls": calls_in_words(calls),
        "error": fenced(cut(trial.uses[place].result, SHOWN)),
    }
    try:
        opinion = await models.ask("judge", "refusal", form_of(_Opinion), **about)
        if not opinion.surprising:
            return structs.replace(passage, fate="expected", why=cut(opinion.reason, SHOWN))
        second = await models.ask("judge", "foretold", form_of(_Second), **about)
    except Unusable as error:
        return structs.replace(passage, why=f"the refusal was not judged: {told(error)}")
    if second.foreseen:
        return structs.replace(passage, why="the judge contradicts itself about the refusal")
    return structs.replace(passage, fate="reached", why=cut(opinion.reason, SHOWN))
