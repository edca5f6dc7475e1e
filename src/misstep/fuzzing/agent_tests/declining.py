"""Judges why an agent did not make a call: its documentation forbids it, or for some other reason.

Also asks a judge whether a tool's refusal would surprise somebody who has read the documentation.
"""

import json
import re
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import structs

from misstep.core.model import Unusable, fenced
from misstep.core.results.finding import ReachAttempt
from misstep.core.results.trial import REFUSALS, Trial, Use
from misstep.core.text import cut
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.parties import SHOWN, AgentTrials, Models, told
from misstep.fuzzing.agent_tests.prompts import calls_in_words, documentation_for
from misstep.schemas.answers import form_of
from misstep.schemas.formats import same

_WORD = re.compile(r"[^\W_]{3,}")
# Words about arguments in general, whatever the tool.
_ABOUT = frozenset(
    _WORD.findall(
        """
    documentation documented documents parameter parameters argument arguments schema string strings
    integer integers number numbers boolean array object empty blank negative positive zero null
        """
    )
)
# Words found in any refusal, any text or any documentation: they say nothing about a particular tool.
_IDLE = frozenset(
    _WORD.findall(
        """
    about additionalproperties again all also and any are assist assistance but call called calls
    can cannot could description did does doing don done exactly for from get give given have help
    how into its just like made make may might not one other our out please properties provide
    request requests required returns sorry such sure that the their them then there these they this
    those title tool tools unable use used user using want was what when where which will with would
    you your
        """
    )
)
# Phrases that state a rule, unlike a made-up result ("Order 7 has been cancelled").
_RULES = re.compile(
    r"""
    n['’]t\b | \b(?:
        cannot | no | not | nor | never | none | neither | nothing | only | must | should | shall | may
        | ha(?:s|ve)\ to | needs? | wants? | takes? | expect(?:s|ed)? | requires? | required | allow(?:s|ed)?
        | accept(?:s|ed)? | support(?:s|ed)? | forbid(?:s|den)? | prohibit(?:s|ed)? | exclude[sd]? | limited
        | valid | invalid | missing | unknown | unsupported | outside | beyond | exceeds? | without | instead
        | at\ (?:least|most) | (?:more|less|fewer|longer|shorter|larger|smaller)\ than | too | violates?
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def names_a_reason(said: str, question: str, tools: Iterable[Described], calls: Sequence[Invocation]) -> bool:
    """Whether the agent's words state a rule about the tools, or about the calls it was asked to make.

    "I can't help with that", a made-up result and a repetition of the question don't count.
    """
    if " ".join(said.split()) in " ".join(question.split()) or not _RULES.search(said):
        return False
    told = " ".join([_told(tool) for tool in tools])
    return bool(_words(said) & (_ABOUT | _words(f"{told} {calls_in_words(calls)}")))


def made_all(uses: Sequence[Use], calls: Sequence[Invocation]) -> bool:
    """Whether all calls were made with these arguments, in this order; other calls may come in between."""
    wanted = list(calls)
    for use in uses:
        if wanted and use.tool == wanted[0].tool and _alike(use.arguments, wanted[0].arguments):
            wanted.pop(0)
    return not wanted


def others_among(uses: Sequence[Use], calls: Sequence[Invocation]) -> list[Use]:
    """The uses that match none of the wanted calls."""
    return [
        use
        for use in uses
        if not any(use.tool == call.tool and _alike(use.arguments, call.arguments) for call in calls)
    ]


def done_instead(rehearsal: Trial, calls: Sequence[Invocation]) -> str:
    """Describe what the agent did instead of the call, when that says nothing about the documentation."""
    for last in others_among(rehearsal.uses, calls)[-1:]:
        return f"the agent, told to make the call, made another: {last.tool}({cut(last.arguments, SHOWN)})"
    said = cut(rehearsal.answer.strip(), SHOWN)
    return f"the agent did not make the call, and named nothing that forbids it: {said or '(no answer)'}"


def _alike(one: str, other: str) -> bool:
    try:
        return same(json.loads(one), json.loads(other))
    except ValueError:  # not JSON, because a secret in it was masked
        return False


def _told(tool: Described) -> str:
    return f"{tool.name} {tool.tool.description} {json.dumps(tool.tool.parameters, ensure_ascii=False)}"


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _IDLE


class _Opinion(msgspec.Struct, frozen=True):
    reason: str
    surprising: bool


class _Second(msgspec.Struct, frozen=True):
    reason: str
    foreseen: bool


async def judge_refusal(
    passage: ReachAttempt, trial: Trial, place: int, models: Models, trials: AgentTrials
) -> ReachAttempt:
    """Ask a judge whether the refusal of call number `place` of the trial contradicts the documentation.

    The refusal must occur again from a fresh start. If the judge is surprised, it is also asked the opposite
    question, and both answers must agree. The result is returned as an updated attempt.
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
