"""Finds the demand of a schema that a value breaks."""

from collections.abc import Iterator, Mapping
from typing import Any

from misstep.core.references import find_reference
from misstep.core.tool import Path
from misstep.schemas.formats import has_format
from misstep.schemas.schema import fits
from misstep.schemas.shape import listed, mapping, names_in

DEEPEST = 8  # places within places that are looked at
MOST_NAMES = 40  # of members that the schema has no names for
MOST_ITEMS = 3  # of those in a list that are all alike to the schema

# Demands that are broken where they stand, and not further in.
BREAKABLE = frozenset((
    "type", "enum", "const", "required", "additionalProperties", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "pattern", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "anyOf", "oneOf", "not",
))  # fmt: skip


def find_breach(schema: Any, value: Any, root: Mapping[str, Any]) -> tuple[str, Path] | None:
    """The keyword of the schema that a value breaks, and where; None if it fits. Formats count."""
    misfit = fits(schema, value, root) is not None
    for node, part, place in places_in(schema, value, root):
        if not misfit and isinstance(part, str) and not has_format(node.get("format"), part):
            return "format", place
        for keyword in node if misfit else ():
            if keyword in BREAKABLE and (at := _where(keyword, node, part, root)) is not None:
                return keyword, (*place, *at)
    return ("schema", ()) if misfit else None


def alone(keyword: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with one keyword, and those that change what it means."""
    kept = {keyword: schema[keyword]}
    if keyword == "additionalProperties":
        named = ("properties", "patternProperties")
        kept |= {name: dict.fromkeys(mapping(schema[name]), True) for name in named if name in schema}
    if keyword == "items" and "prefixItems" in schema:
        kept["prefixItems"] = [True for _ in listed(schema["prefixItems"])]
    if schema.get("nullable") is True:
        kept["nullable"] = True
    return kept


def first_missing(wanted: Any, value: Mapping[str, Any]) -> str | None:
    """The first name that `required` asks for in vain."""
    return next((name for name in names_in(wanted) if name not in value), None)


def places_in(
    schema: Any, value: Any, root: Mapping[str, Any], place: Path = (), deep: int = 0
) -> Iterator[tuple[Mapping[str, Any], Any, Path]]:
    """Every part of the value with each of the schemas that have a say in it."""
    if not isinstance(schema, Mapping) or deep > DEEPEST:
        return
    if value is None and schema.get("nullable") is True:
        return
    yield schema, value, place
    if "$ref" in schema:
        yield from places_in(find_reference(schema["$ref"], root), value, root, place, deep + 1)
    for part in listed(schema.get("allOf")):
        yield from places_in(part, value, root, place, deep + 1)
    for part in (*listed(schema.get("anyOf")), *listed(schema.get("oneOf"))):
        if fits(part, value, root) is None:
            yield from places_in(part, value, root, place, deep + 1)
    for key, inner in _members(schema, value):
        yield from places_in(inner, value[key], root, (*place, key), deep + 1)


def _members(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """The keys of what lies within, with the schemas of it."""
    if isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        yield from ((name, inner) for name, inner in properties.items() if name in value)
        if isinstance(rest := schema.get("additionalProperties"), Mapping):
            yield from ((name, rest) for name in [*value][:MOST_NAMES] if name not in properties)
    if isinstance(value, list):
        rest = schema.get("items")
        first = rest if isinstance(rest, list) else listed(schema.get("prefixItems"))
        yield from enumerate(first[: len(value)])
        if isinstance(rest, Mapping):
            last = min(len(value), len(first) + MOST_ITEMS)
            yield from ((number, rest) for number in range(len(first), last))


def _where(keyword: str, node: Mapping[str, Any], part: Any, root: Mapping[str, Any]) -> Path | None:
    """Where within a part the keyword is broken, if it is."""
    demand = alone(keyword, node)
    if keyword == "required" and isinstance(part, dict):
        missing = first_missing(node[keyword], part)
        return None if missing is None else (missing,)
    if keyword == "additionalProperties":
        given = part if isinstance(part, dict) else {}
        return next(((name,) for name in given if fits(demand, {name: given[name]}, root) is not None), None)
    return () if fits(demand, part, root) is not None else None
