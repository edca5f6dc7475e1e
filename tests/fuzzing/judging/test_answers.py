"""Answers of black boxes get the ruling that somebody who reads them would give."""

import json

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.judging.ruling import judge
from tests.fuzzing.judging.answers import ANSWERS, Answer

PROPERTIES = {"since": {"type": "string", "format": "date"}, "limit": {"type": "integer"}}


def judged(answer: Answer) -> Judged:
    names = {name: PROPERTIES.get(name, {}) for name in (*answer.arguments, *PROPERTIES)}
    described = Described(Tool(answer.tool, "", {"type": "object", "properties": names}), "mcp")
    reaction = Reaction("returned", text=answer.text, size=len(answer.text), flagged=answer.flagged)
    invocation = Invocation(answer.tool, json.dumps(answer.arguments))
    return judge(described, invocation, answer.fits, "" if answer.fits else "type at limit", reaction)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.ruling}: {answer.text[:50]!r}")
def test_an_answer_is_ruled_on_as_a_reader_would(answer: Answer) -> None:
    found = judged(answer)
    assert found.ruling == answer.ruling
    assert found.why or found.ruling == "fine"


def test_exceptions_in_brackets_are_told_apart_by_what_they_say() -> None:
    texts = (
        "TypeError('list indices must be integers or slices, not str')",
        "TypeError(\"'int' object is not callable\")",
    )
    one, other = (judged(Answer("crash", text, flagged=False)).signature for text in texts)
    assert one != other
    assert one == judged(Answer("crash", texts[0], flagged=True)).signature


def test_there_are_enough_of_each_to_mean_something() -> None:
    assert len(ANSWERS) >= 120
    for ruling, fewest in {"crash": 40, "refused": 40, "environment": 20, "fine": 15}.items():
        assert sum(answer.ruling == ruling for answer in ANSWERS) >= fewest
