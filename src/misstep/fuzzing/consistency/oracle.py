"""Judges an agent's answers by what the tool should have answered, as predicted by models."""

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
    """Predict the tool's answer to each request, and state what most of the predictions agree on.

    Raises `Unusable` if at least half of them have no answer, or if they have nothing in common.
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
    """Score how well an answer agrees with the tool's output and with what was expected.

    An answer is wrong only if the judge says so for both orders of the two, and not by a guess alone. Raises
    `Unusable`.
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
    """The words of the documentation because of which the agent did not call the tool, or None.

    A judge must quote them, and the quotation must be in the documentation. Raises `Unusable`.
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
    """Whether the documentation contains the quotation (several words), ignoring white space and case."""
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
