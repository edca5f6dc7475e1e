"""Which examples of a documentation have to be accepted."""

import json
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts import examples
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.contracts.steps import Toolkit


def tool(**day: Any) -> Described:
    properties = {"topic": {"type": "string"}, "day": {"type": "string", **day}}
    return Described(
        Tool("plan", "Plan a meeting.", {"properties": properties, "required": ["topic"]}), "mcp"
    )


def error_of(described: Described, shown: str, answer: str, **control: Any) -> str:
    calls = [
        Invocation("plan", json.dumps({"topic": "x", **given}))
        for given in (control, {**control, "day": shown})
    ]
    reactions = [Reaction("returned", text="planned"), Reaction("returned", text=answer, flagged=True)]
    judged = judge_sequences_of([described])(calls, reactions)
    return judged.error if judged.ruling == "contract" else ""


IN_WORDS = tool(description="A day, e.g. '2026-03-14'")


def test_examples_that_are_refused() -> None:
    assert error_of(IN_WORDS, "2026-03-14", "invalid format of the day", day="Monday") == "example"
    assert error_of(tool(examples=["Monday"]), "Monday", "the day must be a date", day="1") == "example"
    assert error_of(tool(default="Monday"), "Monday", "the day must be a date") == "example"


@pytest.mark.parametrize(
    ("described", "answer"),
    [
        (tool(description="A day, such as 2026-03-15"), "invalid format of the day"),  # another one
        (tool(description="Never a date, e.g. '2026-03-14'"), "invalid format of the day"),
        (IN_WORDS, "there is no such day"),
        (IN_WORDS, "the day must be after the start"),
        (IN_WORDS, "invalid: the number of days does not match the range size"),
        (IN_WORDS, "the calendar must be opened first"),
        (IN_WORDS, "not allowed"),
    ],
)
def test_refusals_that_are_about_something_else(described: Described, answer: str) -> None:
    assert error_of(described, "2026-03-14", answer, day="Monday") == ""


def test_only_values_that_name_nothing_are_tried() -> None:
    schema = {
        "properties": {
            "path": {"type": "string", "examples": ["/data/a.csv"]},
            "unit": {"type": "string", "description": "For example 'km', or '<unit>'"},
        },
        "examples": [{"unit": "mile"}, {"path": "/data/b.csv"}],
    }
    described = Described(Tool("measure", "Measure.", schema), "mcp")
    kit = Toolkit({"measure": described}, {"measure": [(Invocation("measure", '{"unit": "m"}'),)]})
    made = [json.loads(calls[-1].arguments) for calls in examples.experiments(kit)]
    assert made == [{"unit": "mile"}, {"unit": "km"}]


def test_hostile_documentation_is_read_in_part() -> None:
    spaces = tool(description=f"A day, e.g.{' ' * 200_000}x, such as 'Monday'")
    kit = Toolkit({"plan": spaces}, {"plan": [(Invocation("plan", '{"topic": "x"}'),)]})
    assert list(examples.experiments(kit)) == []
    judged = judge_sequences_of([tool(default=["x" * 100_000])])(
        [
            Invocation("plan", '{"topic": "x"}'),
            Invocation("plan", f'{{"topic": "x", "day": ["{"x" * 100_000}"]}}'),
        ],
        [
            Reaction("returned", text="planned"),
            Reaction("returned", text="the day must be a date", flagged=True),
        ],
    )
    assert judged.error == "example"
    assert len(judged.why) < 3_000


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ('Plan it.\n\nExample: {"topic": "tea", "day": "Monday"}', [{"topic": "tea", "day": "Monday"}]),
        ('Usage:\n```json\n{"topic": "tea"}\n```', [{"topic": "tea"}]),
        ('Example: {"name": "plan", "arguments": {"topic": "tea"}}', [{"topic": "tea"}]),
        ("Examples:\n  plan(topic='tea (hot)', day='1')", [{"topic": "tea (hot)", "day": "1"}]),
        ("Example: plan(topic='\\d')", [{"topic": "\\d"}]),  # Python warns of it
        ("Example: plan('tea')", []),  # which parameter it is nobody says
        ("Example: list_plans(topic='tea')", []),
        ('Example: {"topic": "<topic>"}', []),
        ('Example: {"day": "Monday"}', []),
        ('Example: {"topic": "tea", "colour": "red"}', []),
        ('Returns for example {"topic": "tea"}', []),
        ('{"topic": "tea"}', []),
        ("Example: {topic}", []),
        ('Not like this example: {"topic": "tea"}', []),
    ],
)
def test_calls_that_a_description_shows(told: str, shown: list[dict[str, str]]) -> None:
    schema = {"properties": {"topic": {}, "day": {}}, "required": ["topic"]}
    kit = Toolkit(
        {"plan": Described(Tool("plan", told, schema), "mcp")}, {"plan": [(Invocation("plan", "{}"),)]}
    )
    assert [json.loads(calls[-1].arguments) for calls in examples.experiments(kit)] == shown
