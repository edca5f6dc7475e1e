"""Judges an agent's answer by what can be expected of its tool."""

import json
from collections.abc import Sequence

from misstep.core.model import Unusable, fenced
from misstep.core.results.consistency import THRESHOLD, Decline, Expectation, Score
from misstep.core.results.trial import Trial
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import Models
from misstep.fuzzing.agent_tests.prompts import MOST_SHOWN, documentation_of, listed
from misstep.fuzzing.consistency.buckets import outputs_in_words
from misstep.fuzzing.consistency.forms import DECLINED, PREDICTED, SCORE, STATEMENT, Predicted, Scored, alike

EXPECTED = "What to expect, according to the documentation of the tool"


async def expect(requests: Sequence[str], tool: Described, models: Models) -> Expectation:
    """What most answers to requests that mean the same agree on, each given as if by the tool.

    Raises `Unusable` where there is no answer to half of them or more, or nothing in which they agree.
    """
    answers, trouble = list[Predicted](), list[Unusable]()
    documented = documentation_of([tool])
    for request in requests:
        try:
            answers.append(
                await models.ask("judge", "emulate", PREDICTED, tools=documented, request=fenced(request))
            )
        except Unusable as error:
            trouble.append(error)
    if 2 * len(trouble) >= len(requests) and trouble:
        raise trouble[0]
    said = tuple(each.answer for each in answers)
    statement = await models.ask("judge", "majority", STATEMENT, answers=listed(said))
    return Expectation(said, statement, 2 * sum(each.guess for each in answers) >= len(answers))


async def judge_answer(number: int, trial: Trial, tool: str, expected: Expectation, models: Models) -> Score:
    """How well an answer agrees with what the tool gave back and with what could be expected of it.

    A judge that finds it wrong has to find so whichever of the two comes first, and not by a guess alone.
    Raises `Unusable`.
    """
    kind = "This expectation is a guess; nobody could know without the tool" if expected.guessed else EXPECTED
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
    """The words of the documentation for which the agent did not call the tool; None if it had none.

    A judge has to point them out, and they have to be there. Raises `Unusable`.
    """
    if not trial.answer.strip():
        return None
    found = await models.ask(
        "judge",
        "declined",
        DECLINED,
        tools=documentation_of([tool]),
        request=fenced(trial.request),
        answer=fenced(cut(trial.answer, MOST_SHOWN)),
    )
    is_there = _is_said(found.quote, tool)
    return Decline(number, found.quote.strip()) if found.declined and is_there else None


def _is_said(quote: str, tool: Described) -> bool:
    """Whether several words stand in the documentation as they are, but for white space and case."""
    words = alike(quote)
    documented = [tool.tool.description, json.dumps(tool.tool.parameters, ensure_ascii=False)]
    return " " in words and any(words in alike(each) for each in documented)


async def _score(trial: Trial, first: str, second: str, models: Models) -> Scored:
    return await models.ask(
        "judge",
        "judge",
        SCORE,
        request=fenced(trial.request),
        answer=fenced(cut(trial.answer, MOST_SHOWN)),
        first=first,
        second=second,
    )
