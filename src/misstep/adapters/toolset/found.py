"""Tools as they were found, held to what can be offered to every model."""

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from misstep.core.agent import Tool
from misstep.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Found(msgspec.Struct, frozen=True):
    """A tool as somebody else wrote it down; `where` is for messages. Without parameters it takes nothing."""

    where: str
    name: str
    description: str | None
    parameters: Any


def admitted(found: Sequence[Found], spec: str) -> list[Tool]:
    """The same tools, if all have names that nobody refuses and schemas of objects; a `UsageError` if not."""
    if not found:
        raise UsageError(f"'{spec}' holds no tools")
    places = dict[str, str]()
    for tool in found:
        if not _NAME.fullmatch(tool.name):
            raise UsageError(
                f"tool name {tool.name!r} can't be offered to a model",
                "expected 1 to 64 letters, digits, '_' or '-'",
                where=tool.where,
            )
        if tool.name in places:
            raise UsageError(
                f"two tools are called '{tool.name}'", f"one is {places[tool.name]}, the other {tool.where}"
            )
        places[tool.name] = tool.where
    return [Tool(tool.name, inspect.cleandoc(tool.description or ""), _schema(tool)) for tool in found]


def _schema(tool: Found) -> dict[str, Any]:
    """The tool's schema as a copy of ours: a JSON object that describes an object."""
    if not isinstance(tool.parameters, Mapping | None):
        raise _wrong(tool, f"is a {type(tool.parameters).__name__}")
    try:
        schema: dict[str, Any] = json.loads(json.dumps(dict(tool.parameters or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong(tool, f"is no JSON: {error}") from None
    schema = _opened(schema)
    if schema.setdefault("type", "object") != "object":
        raise _wrong(tool, f"is that of a {schema['type']}")
    if not isinstance(schema.setdefault("properties", {}), dict):
        raise _wrong(tool, "has properties that are no object")
    if not isinstance(schema.get("required", []), list):
        raise _wrong(tool, "says what is required in something that is no list")
    return schema


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definition in the place of a reference to it, which nobody follows there."""
    area, _, name = str(schema.get("$ref", "")).removeprefix("#/").partition("/")
    target = schema.get(area, {}).get(name) if area in ("$defs", "definitions") else None
    if not isinstance(target, dict):
        return schema
    return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}


def _wrong(tool: Found, what: str) -> UsageError:
    hint = "expected a JSON schema of an object, whose properties are the tool's parameters"
    return UsageError(f"the schema of the tool '{tool.name}' {what}", hint, where=tool.where)
