"""A problem as the playground shows it to a person.

As JSON a problem is

    {"id", "topic", "chance" | null, "timed",
     "request": [{"text", "told"}],                     its paragraphs; `told` are those with the sentences
     "tools":   [{"name", "about", "fields": [{"name", "kind", "about", "choices": [text, …]}]}]}

The tools stand in the order in which agents get them. All text in it is harmless.
"""

from collections.abc import Sequence
from typing import Any, Literal

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.report.text import plain, plain_lines

NAME = 200  # characters
START_TIME = "start_time"  # what tools of timed problems take

Kind = Literal["text", "number", "time", "choice"]


def problem_of(case: Case, tools: Sequence[Tool]) -> dict[str, Any]:
    """A case, less what would tell how it is solved."""
    return {
        "id": plain(case.id, NAME),
        "topic": plain(case.topic, NAME),
        "chance": case.chance,
        "timed": case.world.day is not None,
        "request": [_paragraph(case, text) for text in case.query.split("\n\n")],
        "tools": [_tool(tool) for tool in tools],
    }


def _paragraph(case: Case, text: str) -> dict[str, Any]:
    told = any(sentence and sentence in text for sentence in case.sentences)
    return {"text": plain_lines(text), "told": told}


def _tool(tool: Tool) -> dict[str, Any]:
    fields = tool.parameters.get("properties", {})
    return {
        "name": plain(tool.name, NAME),
        "about": plain(tool.description),
        "fields": [_field(name, schema) for name, schema in fields.items()],
    }


def _field(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": plain(name, NAME),
        "kind": _kind(name, schema),
        "about": plain(schema.get("description", "")),
        "choices": [plain(each, NAME) for each in schema.get("enum", ())],
    }


def _kind(name: str, schema: dict[str, Any]) -> Kind:
    if "enum" in schema:
        return "choice"
    if schema.get("type") == "integer":
        return "number"
    return "time" if name == START_TIME else "text"
