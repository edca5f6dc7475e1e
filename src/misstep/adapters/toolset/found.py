"""Tools as they were found, held to what can be offered to every model."""

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from misstep.adapters.toolset.examples import examples_of
from misstep.adapters.toolset.keywords import find_misused
from misstep.adapters.toolset.sources import is_async, source_of
from misstep.core.agent import Tool
from misstep.core.references import find_reference
from misstep.core.tool import Described, Promises, ToolKind
from misstep.errors import UsageError

MOST_REFERENCES = 20  # that lead to each other
LONGEST_NAME = 200
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Found(msgspec.Struct, frozen=True):
    """A tool as somebody else wrote it down; `where` is for messages. Without parameters it takes nothing.

    `value` is what can be called, and `code` the function or class of the tool's own that stands behind it.
    With a `problem` it can't be used.
    """

    where: str
    name: str
    description: str | None
    parameters: Any
    kind: ToolKind = "definition"
    value: Any = None
    code: Any = None
    output: Any = None
    promises: Promises = Promises()
    problem: UsageError | None = None


def admitted(found: Sequence[Found], spec: str) -> list[Tool]:
    """The same tools, if all have names that nobody refuses and schemas of objects; a `UsageError` if not."""
    for each in found:
        if not _NAME.fullmatch(each.name):
            raise UsageError(
                f"tool name {each.name!r} can't be offered to a model",
                "expected 1 to 64 letters, digits, '_' or '-'",
                where=each.where,
            )
    tools = [each.tool for each in described(found, spec)]
    for each, tool in zip(found, tools, strict=True):
        _check_names(each, [*tool.parameters["properties"], *tool.parameters.get("required", ())])
    return tools


def described(found: Sequence[Found], spec: str) -> list[Described]:
    """All that is known about the tools; a `UsageError` if two have one name, or one has no usable schema."""
    return [tool for tool, _ in usable(found, spec)]


def usable(
    found: Sequence[Found], spec: str, skipped: list[str] | None = None
) -> list[tuple[Described, Found]]:
    """The same, each with what it was found as.

    Where `skipped` is given, tools that can't be used are told of in it, unless no other is left.
    """
    _check_tools(found, spec)
    pairs, problems = list[tuple[Described, Found]](), list[UsageError]()
    for each in found:
        try:
            pairs.append((_described(each), each))
        except UsageError as problem:
            if skipped is None:
                raise
            problems.append(problem)
    if not pairs:
        raise problems[0]
    if skipped is not None:
        skipped += [problem.message for problem in problems]
    return pairs


def _check_tools(found: Sequence[Found], spec: str) -> None:
    if not found:
        raise UsageError(f"'{spec}' holds no tools")
    places = dict[str, str]()
    for tool in found:
        if not tool.name.strip() or not tool.name.isprintable() or len(tool.name) > LONGEST_NAME:
            raise UsageError(f"{tool.name[:LONGEST_NAME]!r} is no name for a tool", where=tool.where)
        if tool.name in places:
            raise UsageError(
                f"two tools are called '{tool.name}'", f"one is {places[tool.name]}, the other {tool.where}"
            )
        places[tool.name] = tool.where


def _described(found: Found) -> Described:
    if found.problem:
        raise found.problem
    tool = Tool(found.name, inspect.cleandoc(found.description or ""), _schema(found))
    return Described(
        tool,
        found.kind,
        where=found.where,
        output=_output(found),
        is_async=is_async(found.code),
        source=source_of(found.code),
        examples=examples_of(tool, found.code),
        promises=found.promises,
    )


def _schema(tool: Found) -> dict[str, Any]:
    """The tool's schema as a copy of ours: a JSON object that describes an object."""
    if not isinstance(tool.parameters, Mapping | None):
        raise _wrong(tool, f"is of the type {type(tool.parameters).__name__}")
    try:
        schema: dict[str, Any] = json.loads(json.dumps(dict(tool.parameters or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong(tool, f"is no JSON: {error}") from None
    _check_keywords(tool, schema)
    schema = _opened(schema)
    if schema.setdefault("type", "object") != "object":
        raise _wrong(tool, f"is not that of an object: its type is {json.dumps(schema['type'])}")
    schema.setdefault("properties", {})
    return schema


def _output(tool: Found) -> dict[str, Any] | None:
    """The schema of what the tool gives, where it has one that can be used."""
    try:
        schema: Any = json.loads(json.dumps(tool.output, allow_nan=False))
        usable = isinstance(schema, dict) and bool(schema) and find_misused(schema) is None
    except (TypeError, ValueError, RecursionError):
        return None
    return schema if usable else None


def _check_keywords(tool: Found, schema: dict[str, Any]) -> None:
    try:
        misused = find_misused(schema)
    except RecursionError:
        raise _wrong(tool, "is nested too deeply") from None
    if misused is not None:
        *outer, keyword = misused
        inside = f", in {'.'.join(outer)!r}" if outer else ""
        raise _wrong(tool, f"has a value for '{keyword}' that makes no sense{inside}")


def _check_names(tool: Found, names: Sequence[str]) -> None:
    for name in names:
        if not name.strip() or not name.isprintable() or "`" in name:
            raise UsageError(
                f"the parameter {name!r} of the tool '{tool.name}' can't be spoken of in a request",
                "expected a name on one line that has no backtick in it",
                where=tool.where,
            )


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definition in the place of a reference to it, which nobody follows there."""
    for _ in range(MOST_REFERENCES):
        target = find_reference(schema.get("$ref"), schema)
        if not isinstance(target, dict) or target is schema:
            break
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _wrong(tool: Found, what: str) -> UsageError:
    hint = "expected a JSON schema of an object, whose properties are the tool's parameters"
    return UsageError(f"the schema of the tool '{tool.name}' {what}", hint, where=tool.where)
