"""Values for parameters: by name, description and format, and from the tool's source and examples."""

import ast
import json
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from misstep.core.tool import Described
from misstep.fuzzing.inputs.slots import ArgumentSlot, Kind, Origin
from misstep.schemas.samples import find_numbers, find_texts, words_of
from misstep.schemas.shape import as_list, flatten, kinds_of
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
    names = [getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls]
    first = [call.args[0] for call, name in zip(calls, names, strict=True) if name in _MATCHING]
    patterns = [each.value for each in first if isinstance(each, ast.Constant)]
    return [*texts, *said], numbers, [each for each in patterns if isinstance(each, str)]


def constants_in(source: str) -> list[Any]:
    """The constants of a function, without its docstring; none if the source cannot be parsed."""
    tree = parse_module(textwrap.dedent(source))
    return _constants(tree)[0] if tree else []


def _constants(tree: ast.Module) -> tuple[list[Any], list[Any]]:
    """The values of constants, and of those that are statements: mostly docstrings."""
    nodes = list(ast.walk(tree))
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant)]
    values = [node.value for node in constants if id(node) not in statements]
    return values, [node.value for node in constants if id(node) in statements]


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
    yield from read_examples(described.examples)
    for key in ("examples", "default"):
        given = described.tool.parameters.get(key)
        listed = given if isinstance(given, list) else [given]
        yield from (each for each in listed if isinstance(each, dict))


def read_examples(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The arguments in JSON texts, without those that are not objects."""
    for text in texts:
        example = None
        with suppress(ValueError, RecursionError):
            example = json.loads(text)
        if isinstance(example, dict):
            yield example


def values_in(schema: Mapping[str, Any]) -> list[Any]:
    """Values that a schema names: its examples, default, enum and const."""
    named = [schema[key] for key in ("default", "example", "const") if key in schema]
    for key in ("examples", "enum"):
        listed = schema.get(key)
        listed = list(listed.values()) if isinstance(listed, dict) else listed
        named += listed if isinstance(listed, list) else []
    return named


LONGEST_TOLD = 400  # characters of a description; the first sentences say what a parameter is
MOST_TOPICS = 3


class ParameterTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject of parameters. `names` are endings of their names, `told` words in descriptions.

    `plain` values are ordinary ones, `odd` ones unusual. A `notation` is what a text is written in.
    """

    name: str
    names: tuple[str, ...]
    told: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    plain: tuple[Any, ...] = ()
    odd: tuple[Any, ...] = ()
    notation: bool = False

    def __hash__(self) -> int:  # values may be objects
        return hash(self.name)


@cache
def load_topics() -> tuple[ParameterTopic, ...]:
    text = resources.files(__package__).joinpath("data/semantic.toml").read_text(encoding="utf-8")
    topics = tomllib.loads(text)["topic"]
    for topic in topics:
        for key in ("plain", "odd"):
            topic[key] = [
                _long(**each) if isinstance(each, dict) and "repeat" in each else each
                for each in topic.get(key, ())
            ]
    return msgspec.convert(topics, tuple[ParameterTopic, ...])


def _long(repeat: str, times: int, before: str = "", after: str = "") -> str:
    """A long text, which the file has in compact form."""
    return f"{before}{repeat * times}{after}"


def topics_for(name: str, description: str = "", form: object = None) -> list[ParameterTopic]:
    """The topics of a parameter, likeliest first: by its format, else its name, else its description."""
    ranked = [(_likeness(topic, name, description, form), topic) for topic in load_topics()]
    ranked = sorted((each for each in ranked if each[0] > 0), key=lambda each: -each[0])
    return [topic for _, topic in ranked[:MOST_TOPICS]]


def values_for_format(name: str) -> tuple[str, ...]:
    """Texts of the topic that the format belongs to; not all of them need to match the format."""
    topics = [topic for topic in load_topics() if name in topic.formats]
    values = [value for topic in topics for value in (*topic.plain, *topic.odd)]
    return tuple(value for value in values if isinstance(value, str))


def _likeness(topic: ParameterTopic, name: str, description: str, form: object) -> int:
    if form in topic.formats:
        return 1000
    words = words_of(name)
    endings, told = _forms(topic)
    ends = max((_overlap(words, ending) for ending in endings), default=0)
    is_told = told is not None and told.search(description[:LONGEST_TOLD]) is not None
    if is_told and topic.notation and is_vague(name):
        return 200
    return ends or int(is_told)


# Names of parameters that hold any text.
_VAGUE_NAMES = frozenset((
    "body", "code", "content", "data", "input", "query", "source", "statement", "string", "text", "value",
))  # fmt: skip


def is_vague(name: str) -> bool:
    """Whether a parameter may hold any text, by its name."""
    return not _VAGUE_NAMES.isdisjoint(words_of(name)[-1:])


def texts_starting_with(keywords: Iterable[str]) -> list[str]:
    """Ordinary texts of all topics that start with one of these words, such as SELECT."""
    wanted = {*keywords}
    values = (value for topic in load_topics() for value in topic.plain)
    return [value for value in values if isinstance(value, str) and value.partition(" ")[0] in wanted]


def _overlap(words: Sequence[str], ending: tuple[str, ...]) -> int:
    """How well the words of a name match a topic: best if the name ends with them."""
    size = len(ending)
    if tuple(words[-size:]) == ending:
        return 100 + size * 10
    inside = any(tuple(words[place : place + size]) == ending for place in range(len(words) - size))
    return 50 + size * 10 if inside else 0


@cache
def _forms(topic: ParameterTopic) -> tuple[list[tuple[str, ...]], re.Pattern[str] | None]:
    """The words of each ending of names, and a pattern for the words in descriptions."""
    endings = [tuple(words_of(name)) for name in topic.names]
    words = "|".join(re.escape(word) for word in topic.told)
    return endings, re.compile(rf"(?<!\w)(?:{words})s?(?!\w)", re.IGNORECASE) if words else None


OPEN_ENDS = (":", "/", "=", "#", "-", "_", ".", " ", "(", "[", "{", "?", "&", "@")
WORDS = ("abc", "1")  # words appended to a text that looks like a prefix


class ValueIdea(msgspec.Struct, frozen=True):
    """A value that may fit; `kind` applies if it does."""

    value: Any
    kind: Kind
    origin: Origin


def ideas_for(slot: ArgumentSlot, root: Mapping[str, Any], found: SuggestedValues) -> Iterator[ValueIdea]:
    flat = flatten(slot.schema, root) or {}
    for topic in topics_for(slot.name, slot.description, flat.get("format")):
        for value in topic.plain:
            yield ValueIdea(value, "valid", "harvested" if _is_told(value, slot.description) else "semantic")
        yield from (ValueIdea(value, "boundary", "semantic") for value in topic.odd)
    yield from (ValueIdea(value, "valid", "harvested") for value in _named(slot, flat, found))
    kinds = kinds_within(flat, root)
    if "string" in kinds:
        for text in (*find_texts(slot.description), *found.texts):
            yield ValueIdea(text, "valid", "harvested")
            if text.endswith(OPEN_ENDS):
                yield from (ValueIdea(text + word, "valid", "harvested") for word in WORDS)
        yield from (ValueIdea("a" * length, "boundary", "harvested") for length in found.lengths)
    if kinds & {"integer", "number"}:
        told = [number + step for number in find_numbers(slot.description) for step in (0, 1, -1)]
        yield from (ValueIdea(number, "valid", "harvested") for number in (*told, *found.neighbours))
    if "array" in kinds:
        yield from (ValueIdea([None] * length, "boundary", "harvested") for length in found.lengths[:12])


def _is_told(value: Any, description: str) -> bool:
    """Whether a description names the keyword that a value starts with, such as SELECT."""
    first = value.partition(" ")[0] if isinstance(value, str) else ""
    return len(first) > 2 and first.isalpha() and first.isupper() and first in description


def kinds_within(schema: Mapping[str, Any], root: Mapping[str, Any]) -> set[str]:
    """The types that a value may have in any of its alternatives."""
    forms = [*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))]
    if not forms:
        return set(kinds_of(schema))
    return {kind for form in forms for kind in kinds_of(flatten(form, root) or {})}


def _named(slot: ArgumentSlot, flat: Mapping[str, Any], found: SuggestedValues) -> Iterator[Any]:
    """Values that the schema lists, and values of the examples at this place."""
    yield from values_in(flat)
    for example in found.examples:
        value: Any = example
        for step in slot.path:
            if isinstance(value, dict) and step in value:
                value = value[str(step)]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                break
        else:
            yield value
