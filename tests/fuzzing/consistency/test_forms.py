"""Answers of models about sets: what is read, and what they are told where it can't be."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.fuzzing.consistency.making import (
    CORRECTNESS,
    MOST_INFILL,
    MOST_SAID,
    MOST_TEMPLATE,
    PREDICTED,
    SCORE,
    STATEMENT,
    Correctness,
    Predicted,
    Same,
    Scored,
    infills_form,
    same_form,
    same_number_form,
    templates_form,
)
from misstep.schemas.answers import FormatError

ROUTE = "From [start] to [end]?"


def told(found: object) -> str:
    assert isinstance(found, FormatError), found
    return found.text


def test_templates() -> None:
    read = templates_form(2, ["Who is [person]?"]).read
    given = {"templates": [f" {ROUTE} ", "Where is [city]?", "What of [thing]?"]}
    assert read(json.dumps(given)) == (ROUTE, "Where is [city]?")


@pytest.mark.parametrize(
    ("templates", "complaint"),
    [
        ([], "There are no templates."),
        (["How far is it?"], "'How far is it?' has no placeholder in square brackets."),
        (["Where is []?"], "'[]' is not a placeholder: only plain words go between the brackets."),
        (["Add [1, 2]"], "'[1, 2]' is not a placeholder: only plain words go between the brackets."),
        (
            ["From [a] to [a]"],
            "'From [a] to [a]' uses a placeholder twice: give each a different name.",
        ),
        (["Who is [x]?", "who  is [X]?"], "'who  is [X]?' appears twice."),
        (["Where is [city]?"], "'Where is [city]?' was used before."),
        ("Where?", "Expected `array`, got `str` - at `$.templates`"),
        ([1], "Expected `str`, got `int`"),
    ],
)
def test_templates_that_are_none(templates: Any, complaint: str) -> None:
    read = templates_form(3, ["where is [City]?"]).read
    assert complaint in told(read(json.dumps({"templates": templates})))


def test_infills() -> None:
    given = {"infills": {"[end]": ["Lyon", "Lyon FR"], "start": [" Paris ", "Paris, France"]}}
    assert infills_form(ROUTE, 2, ["Rome"]).read(json.dumps(given)) == {
        "start": ("Paris", "Paris, France"),
        "end": ("Lyon", "Lyon FR"),
    }


@pytest.mark.parametrize(
    ("start", "complaint"),
    [
        (None, "There are no infills for [start]."),
        ([], "There is no infill for '[start]'."),
        (["Paris", "PARIS "], "'PARIS' appears twice for '[start]'."),
        (["Paris", "FR Paris", "paris"], "'paris' appears twice for '[start]'."),
        (["Paris", "the eternal  city"], "'the eternal  city' was used before."),
        (["Paris", "Lutetia", " "], "An infill for '[start]' is empty."),
        (["Paris", None], "Expected `str`, got `null`"),
    ],
)
def test_infills_that_are_none(start: Any, complaint: str) -> None:
    infills = {"end": ["Lyon", "Lyon FR"], **({} if start is None else {"start": start})}
    read = infills_form(ROUTE, 2, ["The Eternal City"]).read
    assert complaint in told(read(json.dumps({"infills": infills})))


def test_a_value_that_can_be_said_in_one_way_needs_no_other() -> None:
    given = {"start": ["Paris"], "end": ["Lyon", "Lyon FR", "Lyons"]}
    assert infills_form(ROUTE, 5).read(json.dumps({"infills": given})) == {
        name: tuple(words) for name, words in given.items()
    }
    none = told(infills_form(ROUTE, 5).read('{"infills": {"start": ["Paris"], "end": ["Lyon"]}}'))
    assert none == "At least one placeholder needs two different infills or more."


def test_messages_that_ask_for_something_else() -> None:
    read = same_form(3).read
    assert read('{"reason": " so ", "different": [3, 1, 3]}') == Same("so", (1, 3))
    assert "There is no message 4" in told(read('{"reason": "so", "different": [4]}'))
    assert "different" in told(read('{"reason": "so"}'))


def test_infills_for_what_is_not_in_the_template() -> None:
    infills = {"start": ["a", "b"], "end": ["c", "d"], "via": ["e", "f"]}
    complaint = told(infills_form(ROUTE, 2).read(json.dumps({"infills": infills})))
    assert complaint == "The template has no '[via]'."


def test_as_many_messages_as_there_were() -> None:
    read = same_number_form(2).read
    assert read('{"requests": [" one", "two\\u0000"]}') == ("one", "two\ufffd")
    assert "There are 1 messages; there must be 2" in told(read('{"requests": ["one"]}'))
    assert "'ONE' appears twice." in told(read('{"requests": ["one", "ONE"]}'))
    assert "A message is empty." in told(read('{"requests": ["one", " "]}'))


@pytest.mark.parametrize("score", [0, 11, -1, 7.0, 6.5, "7", True, None, [5]])
def test_scores_are_whole_numbers_up_to_ten(score: object) -> None:
    assert "score" in told(SCORE.read(json.dumps({"score": score, "reason": "so"})))


def test_scores() -> None:
    assert SCORE.read('Well: {"reason": " so ", "score": 10}') == Scored(reason="so", score=10)
    guessed = '{"reason": "so", "guess": true, "score": 2}'
    assert SCORE.read(guessed) == Scored(reason="so", guess=True, score=2)
    assert "reason" in told(SCORE.read('{"score": 3}'))


def test_correctness() -> None:
    assert CORRECTNESS.read('{"correct": false, "reason": "no"}') == Correctness("no", False)
    assert "correct" in told(CORRECTNESS.read('{"correct": "no", "reason": "no"}'))


def test_sentences() -> None:
    assert PREDICTED.read('{"answer": " 465 km"}') == Predicted("465 km")
    assert PREDICTED.read('{"answer": "465 km", "guess": true}') == Predicted("465 km", guess=True)
    assert STATEMENT.read('{"statement": "465 km"}') == "465 km"
    assert "empty" in told(PREDICTED.read('{"answer": "  "}'))
    assert "statement" in told(STATEMENT.read('{"answer": "465 km"}'))


@settings(max_examples=60, deadline=None)
@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_nothing_that_a_model_says_breaks_a_reader(text: str) -> None:
    for key in ("templates", "infills", "requests", "answer", "score"):
        said = f'{{"{key}": {text}}}'
        forms = (templates_form(2), infills_form(ROUTE, 2), same_number_form(2))
        for form in (*forms, PREDICTED, STATEMENT, SCORE, CORRECTNESS):
            form.read(said)


def rest_of(found: object) -> object:
    assert isinstance(found, FormatError), found
    return found.rest


def test_what_is_good_is_left_over() -> None:
    templates = [ROUTE, "Where is [x]?" + "x" * MOST_TEMPLATE, "where is [X]?", "No place.", "Who is [y]?"]
    read = templates_form(3, ["Who is [Y]?"]).read
    assert rest_of(read(json.dumps({"templates": templates}))) == (ROUTE, "where is [X]?")
    assert rest_of(read(json.dumps({"templates": templates[3:]}))) is None
    start = ["Paris", "PARIS", " ", "Paris, France", "x" * (MOST_INFILL + 1), "Rome"]
    infills = {"start": start, "end": ["Lyon", "Lyon FR"], "via": ["Dijon"]}
    read = infills_form(ROUTE, 2, ["rome"]).read
    good = {"start": ("Paris", "Paris, France"), "end": ("Lyon", "Lyon FR")}
    assert rest_of(read(json.dumps({"infills": infills}))) == good
    assert rest_of(read(json.dumps({"infills": {**infills, "end": ["", "rome"]}}))) is None
    requests = ["one", "ONE", "", "two", "x" * (MOST_SAID + 1)]
    assert rest_of(same_number_form(5).read(json.dumps({"requests": requests}))) == ("one", "two")
    assert rest_of(same_number_form(4).read(json.dumps({"requests": requests}))) is None
    assert rest_of(same_number_form(3).read(json.dumps({"requests": requests[:3]}))) is None


def test_a_complaint_stays_short() -> None:
    many = {"templates": ["x" * 3_000]}
    assert len(told(templates_form(1).read(json.dumps(many)))) < 500
