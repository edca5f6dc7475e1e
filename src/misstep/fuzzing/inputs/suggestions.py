"""Gathers values from a tool's source, description and examples."""

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from misstep.core.tool import Described
from misstep.schemas.samples import find_numbers, find_texts
from misstep.schemas.source import parse_module

LONGEST_SOURCE = 300_000  # characters
LONGEST_TEXT = 300
LARGEST_LENGTH = 20_000
MOST = 120  # values of one sort

_QUOTED = re.compile(r"'([^'\n\\]{0,200})'|\"([^\"\n\\]{0,200})\"")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?![\w.])")
_MATCHING = frozenset(("compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "split"))


class SuggestedValues(msgspec.Struct, frozen=True):
    """What was found. `patterns` are regular expressions, `examples` complete arguments."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    patterns: tuple[str, ...] = ()
    examples: tuple[dict[str, Any], ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of texts and lists that may matter: numbers in the source, and their neighbours."""
        whole = [each for each in self.numbers if isinstance(each, int) and 0 < each <= LARGEST_LENGTH]
        return tuple(dict.fromkeys(number + step for number in whole[:20] for step in (-1, 0, 1)))

    @property
    def neighbours(self) -> tuple[int | float, ...]:
        return tuple(dict.fromkeys(number + step for number in self.numbers for step in (-1, 0, 1)))


def harvest(described: Described) -> SuggestedValues:
    source = described.source.text[:LONGEST_SOURCE] if described.source is not None else ""
    texts, numbers, patterns = read_source(source)
    description = described.tool.description
    return SuggestedValues(
        texts=tuple(dict.fromkeys([*find_texts(description), *texts]))[:MOST],
        numbers=tuple(dict.fromkeys([*find_numbers(description), *numbers]))[:MOST],
        patterns=tuple(dict.fromkeys(patterns))[:MOST],
        examples=tuple(_examples(described)),
    )


def read_source(source: str) -> tuple[list[str], list[int | float], list[str]]:
    """Texts, numbers and regular expressions in Python code, or in any other text."""
    tree = parse_module(textwrap.dedent(source))
    if tree is None:
        return _read_roughly(source)
    constants, stated = _constants(tree)
    texts = [each.decode("latin-1") if isinstance(each, bytes) else each for each in constants]
    texts = [text for text in texts if isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT]
    said = [text for each in stated if isinstance(each, str) for text in find_texts(each)]
    numbers = [number for number in map(_number, ast.walk(tree)) if number is not None]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    first = [
        call.args[0]
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in _MATCHING
    ]
    patterns = [
        each.value for each in first if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return [*texts, *said], numbers, patterns


def constants_in(source: str) -> list[Any]:
    """The constants of a function, without its docstring; none if the source cannot be parsed."""
    tree = parse_module(textwrap.dedent(source))
    return _constants(tree)[0] if tree else []


def _constants(tree: ast.Module) -> tuple[list[Any], list[Any]]:
    """The values of constants, and of those that are statements: mostly docstrings."""
    nodes = list(ast.walk(tree))
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant)]
    return (
        [node.value for node in constants if id(node) not in statements],
        [node.value for node in constants if id(node) in statements],
    )


def _read_roughly(source: str) -> tuple[list[str], list[int | float], list[str]]:
    """Like `read_source`, with regular expressions instead of a parser."""
    texts = [one or other for one, other in _QUOTED.findall(source)]
    numbers: list[int | float] = [float(n) if "." in n else int(n) for n in _NUMBER.findall(source)]
    return list(dict.fromkeys(texts)), list(dict.fromkeys(numbers)), []


def _number(node: ast.AST) -> int | float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 10**300:
        return None
    return sign * value


def _examples(described: Described) -> Iterator[dict[str, Any]]:
    """Complete arguments given as examples by the author or the schema."""
    for text in described.examples:
        try:
            example = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(example, dict):
            yield example
    for key in ("examples", "default"):
        given = described.tool.parameters.get(key)
        listed = given if isinstance(given, list) else [given]
        yield from (each for each in listed if isinstance(each, dict))


def values_in(schema: Mapping[str, Any]) -> list[Any]:
    """Values that a schema names: its examples, default, enum and const."""
    named = [schema[key] for key in ("default", "example", "const") if key in schema]
    for key in ("examples", "enum"):
        listed = schema.get(key)
        listed = list(listed.values()) if isinstance(listed, dict) else listed
        named += listed if isinstance(listed, list) else []
    return named
