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
        whole = [
            number for number in self.numbers if isinstance(number, int) and 0 < number <= LARGEST_LENGTH
        ]
        return tuple(dict.fromkeys(number + step for number in whole[:20] for step in (-1, 0, 1)))

    @property
    def neighbours(self) -> tuple[int | float, ...]:
        """The numbers, with those just before and after each."""
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
    walked = list(ast.walk(tree))
    documentation = _documentation(walked)
    constants = [
        node.value for node in walked if isinstance(node, ast.Constant) and id(node) not in documentation
    ]
    said = [text for node in walked if id(node) in documentation for text in _told(node)]
    numbers = [node for node in map(_number, walked) if node is not None]
    return [*_texts(constants), *said], numbers, list(_patterns(walked))


def _read_roughly(source: str) -> tuple[list[str], list[int | float], list[str]]:
    """Like `read_source`, with regular expressions instead of a parser."""
    texts = [one or other for one, other in _QUOTED.findall(source)]
    numbers: list[int | float] = [float(n) if "." in n else int(n) for n in _NUMBER.findall(source)]
    return list(dict.fromkeys(texts)), list(dict.fromkeys(numbers)), []


def _documentation(nodes: list[ast.AST]) -> set[int]:
    """Ids of string expressions that are statements: mostly docstrings."""
    return {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _told(node: ast.AST) -> list[str]:
    return find_texts(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _texts(constants: list[Any]) -> Iterator[str]:
    for constant in constants:
        text = constant.decode("latin-1") if isinstance(constant, bytes) else constant
        if isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT:
            yield text


def _number(node: ast.AST) -> int | float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 10**300:
        return None
    return sign * value


def _patterns(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and _called(node.func) in _MATCHING:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


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
        yield from (
            each for each in (given if isinstance(given, list) else [given]) if isinstance(each, dict)
        )


def values_in(schema: Mapping[str, Any]) -> list[Any]:
    """Values that a schema names: its examples, default, enum and const."""
    named = [schema[key] for key in ("default", "example", "const") if key in schema]
    for key in ("examples", "enum"):
        listed = schema.get(key)
        named += (
            listed if isinstance(listed, list) else list(listed.values()) if isinstance(listed, dict) else []
        )
    return named
