"""Validates tools as they were found, and reads their schemas and examples."""

import ast
import inspect
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from misstep.adapters.loading.source import is_async, source_of
from misstep.core.agent import Tool
from misstep.core.tool import Described, Promises, ToolKind
from misstep.errors import UsageError
from misstep.schemas.shape import as_list, find_reference, mapping
from misstep.schemas.source import parse_expression

Place: TypeAlias = tuple[str, ...]


def _misused(schema: Any, place: Place = ()) -> Iterator[Place]:
    """The paths of keywords with an invalid value; unknown keywords may have any value."""
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        here = (*place, keyword)
        if keyword in _FORMS and not _fits(value, _FORMS[keyword]):
            yield here
        elif keyword in _NAMED:
            for name, inner in value.items():
                yield from _misused(inner, (*here, name))
        elif keyword in _INNER:
            for inner in value if isinstance(value, list) else [value]:
                yield from _misused(inner, here)


_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_INNER = ("additionalProperties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "not")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
# The types of values.
_FORMS: dict[str, Any] = {
    **dict.fromkeys(_NAMED, dict[str, dict[str, Any] | bool]),
    **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), list[dict[str, Any] | bool]),
    **dict.fromkeys(("additionalProperties", "not"), dict[str, Any] | bool),
    **dict.fromkeys((*_COUNTS, "minimum", "maximum", "multipleOf"), int | float),
    # In older drafts a boolean makes the other limit exclusive.
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), int | float | bool),
    **dict.fromkeys(("pattern", "$ref"), str),
    "items": dict[str, Any] | bool | list[dict[str, Any] | bool],
    "type": str | list[str],
    "enum": list[Any],
    "required": list[str],
    "uniqueItems": bool,
}


def _fits(value: Any, form: Any) -> bool:
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError:
        return False
    return True


MOST = 20
LONGEST = 2_000  # characters of one call in a docstring
MOST_BEGINNINGS = 100  # possible starts of a call
MOST_ENDS = 20  # closing parentheses at which it may end


def examples_of(tool: Tool, code: Any) -> tuple[str, ...]:
    """Arguments as JSON texts: those in the schema, and calls in the description or docstring."""
    given = tool.parameters.get("examples")
    found = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    found += _calls(tool, code)
    texts = dict[str, None]()
    for each in found:
        with suppress(TypeError, ValueError, RecursionError):
            texts[json.dumps(each, ensure_ascii=True, allow_nan=False)] = None
    return tuple(texts)[:MOST]


def _calls(tool: Tool, code: Any) -> Iterator[dict[str, Any]]:
    names = [*tool.parameters["properties"]]
    said = {tool.description, inspect.getdoc(code) or "" if code is not None else ""}
    called = {tool.name, str(getattr(code, "__name__", tool.name))}
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(called)))})\(")
    for text in sorted(said):
        for found in itertools.islice(pattern.finditer(text), MOST_BEGINNINGS):
            call = _parsed(text[found.start() : found.start() + LONGEST])
            if call is not None and (arguments := _arguments(call, names)):
                yield arguments


def _parsed(text: str) -> ast.Call | None:
    """The call at the start of a text: the shortest part that ends with a parenthesis and parses."""
    ends = (place for place, character in enumerate(text) if character == ")")
    for end in itertools.islice(ends, MOST_ENDS):
        tree = parse_expression(text[: end + 1])
        if tree is not None:
            return tree if isinstance(tree, ast.Call) else None
    return None


def _arguments(call: ast.Call, names: list[str]) -> dict[str, Any] | None:
    """The arguments by name, if all of them are literals."""
    if len(call.args) > len(names):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    try:
        return {name: ast.literal_eval(value) for name, value in given.items()}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


MOST_REFERENCES = 20  # that lead to each other
LONGEST_NAME = 200
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class FoundTool(msgspec.Struct, frozen=True):
    """A tool as it was found; `where` is for messages. Without parameters it takes no arguments."""

    where: str
    name: str
    description: str | None
    parameters: Any
    kind: ToolKind = "definition"
    value: Any = None  # what can be called
    code: Any = None  # the tool's own function or class behind it
    output: Any = None
    promises: Promises = Promises()
    problem: UsageError | None = None  # why it cannot be used


def admitted(found: Sequence[FoundTool], spec: str) -> list[Tool]:
    """The tools, if all have names and object schemas that any model accepts. Raises `UsageError` if not."""
    for each in found:
        if not _NAME.fullmatch(each.name):
            hint = "expected 1 to 64 letters, digits, '_' or '-'"
            message = f"tool name {each.name!r} can't be offered to a model"
            raise UsageError(message, hint, where=each.where)
    tools = [each.tool for each, _ in usable(found, spec)]
    for each, tool in zip(found, tools, strict=True):
        for name in (*tool.parameters["properties"], *tool.parameters.get("required", ())):
            if not name.strip() or not name.isprintable() or "`" in name:
                message = f"the parameter {name!r} of the tool '{tool.name}' can't be named in a request"
                hint = "expected a name on one line, without backticks"
                raise UsageError(message, hint, where=each.where)
    return tools


def usable(
    found: Sequence[FoundTool], spec: str, skipped: list[str] | None = None, notes: list[str] | None = None
) -> list[tuple[Described, FoundTool]]:
    """Everything known about the tools, each with what it was found as.

    Raises `UsageError` for duplicate names or an unusable schema. If `skipped` is given, unusable tools are
    reported in it instead, unless no other is left. If `notes` is given, optional parameters with an unusable
    schema are left out, which is reported there.
    """
    _check_tools(found, spec)
    pairs, problems = list[tuple[Described, FoundTool]](), list[UsageError]()
    for each in found:
        try:
            pairs.append((_described(each, notes), each))
        except UsageError as problem:
            if skipped is None:
                raise
            problems.append(problem)
    if not pairs:
        raise problems[0]
    if skipped is not None:
        skipped += [problem.message for problem in problems]
    return pairs


def _check_tools(found: Sequence[FoundTool], spec: str) -> None:
    if not found:
        raise UsageError(f"'{spec}' contains no tools")
    places = dict[str, str]()
    for tool in found:
        if not is_tool_name(tool.name):
            raise UsageError(f"{tool.name[:LONGEST_NAME]!r} is not a valid tool name", where=tool.where)
        if tool.name in places:
            hint = f"one is {places[tool.name]}, the other {tool.where}"
            raise UsageError(f"two tools are called '{tool.name}'", hint)
        places[tool.name] = tool.where


def is_tool_name(name: str) -> bool:
    return bool(name.strip()) and name.isprintable() and len(name) <= LONGEST_NAME


def _described(found: FoundTool, notes: list[str] | None) -> Described:
    if found.problem:
        raise found.problem
    tool = Tool(found.name, inspect.cleandoc(found.description or ""), _schema(found, notes))
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


def _schema(tool: FoundTool, notes: list[str] | None) -> dict[str, Any]:
    """Our own copy of the tool's schema: a JSON object that describes an object.

    If `notes` is given, the schema is without unusable optional parameters, which are reported in it.
    """
    if not isinstance(tool.parameters, Mapping | None):
        raise _wrong(tool, f"is of the type {type(tool.parameters).__name__}")
    try:
        schema: dict[str, Any] = json.loads(json.dumps(dict(tool.parameters or {}), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong(tool, f"is not JSON: {error}") from None
    try:
        odd = [] if notes is None else _drop_odd(schema)
        misused = next(_misused(schema), None)
    except RecursionError:
        raise _wrong(tool, "is nested too deeply") from None
    if misused is not None:
        *outer, keyword = misused
        inside = f", in {'.'.join(outer)!r}" if outer else ""
        raise _wrong(tool, f"has a value for '{keyword}' that is not valid{inside}")
    if notes is not None and odd:
        named = ", ".join(map(repr, odd))
        notes.append(f"'{tool.name}' is called without {named}, whose schema is not valid")
    schema = _opened(schema)
    if schema.setdefault("type", "object") != "object":
        raise _wrong(tool, f"is not that of an object: its type is {json.dumps(schema['type'])}")
    schema.setdefault("properties", {})
    return schema


def _drop_odd(schema: dict[str, Any]) -> list[str]:
    """Remove optional parameters whose schema is not valid, and return their names."""
    properties, required = mapping(schema.get("properties")), as_list(schema.get("required"))
    odd = [
        name
        for name, inner in properties.items()
        if name not in required and any(_misused({"properties": {name: inner}}))
    ]
    for name in odd:
        del schema["properties"][name]
    return odd


def _output(tool: FoundTool) -> dict[str, Any] | None:
    """The schema of the tool's results, if it has a usable one."""
    try:
        schema: Any = json.loads(json.dumps(tool.output, allow_nan=False))
        usable = isinstance(schema, dict) and bool(schema) and not any(_misused(schema))
    except (TypeError, ValueError, RecursionError):
        return None
    return schema if usable else None


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a reference at its top replaced by the definition, because models don't follow it."""
    for _ in range(MOST_REFERENCES):
        target = find_reference(schema.get("$ref"), schema)
        if not isinstance(target, dict) or target is schema:
            break
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _wrong(tool: FoundTool, what: str) -> UsageError:
    hint = "expected a JSON schema of an object, whose properties are the tool's parameters"
    return UsageError(f"the schema of the tool '{tool.name}' {what}", hint, where=tool.where)
