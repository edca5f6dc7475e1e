"""Arguments that a tool's author gives as examples."""

import ast
import inspect
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from misstep.core.agent import Tool
from misstep.core.syntax import parse_expression

MOST = 20
LONGEST = 2_000  # characters of one call in a docstring
MOST_BEGINNINGS = 100  # of what may be a call
MOST_ENDS = 20  # brackets at which one may end


def examples_of(tool: Tool, code: Any) -> tuple[str, ...]:
    """JSON texts of arguments: those in the schema, and calls that the description or docstring shows."""
    given = tool.parameters.get("examples")
    found = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    found += _calls(tool, code)
    texts = [text for each in found if (text := _json(each)) is not None]
    return tuple(dict.fromkeys(texts))[:MOST]


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
    """The call that a text begins with; the shortest that ends with a bracket is it."""
    ends = (place for place, character in enumerate(text) if character == ")")
    for end in itertools.islice(ends, MOST_ENDS):
        tree = parse_expression(text[: end + 1])
        if tree is not None:
            return tree if isinstance(tree, ast.Call) else None
    return None


def _arguments(call: ast.Call, names: list[str]) -> dict[str, Any] | None:
    """The arguments by their names, if all of them are literals."""
    if len(call.args) > len(names):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    try:
        return {name: ast.literal_eval(value) for name, value in given.items()}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _json(arguments: dict[str, Any]) -> str | None:
    try:
        return json.dumps(arguments, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
