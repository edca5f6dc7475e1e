"""Breaks one demand of a schema in a value that meets them all."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from misstep.core.references import find_reference
from misstep.core.tool import Path
from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.tooling.inputs.drawn import Breach
from misstep.tooling.inputs.edges import BY_KIND, TEXTS, beyond
from misstep.tooling.inputs.formats import has_format
from misstep.tooling.inputs.shape import count, listed, mapping, names_in

DEEPEST = 8  # places within places that are looked at
MOST_PLACES = 40
LONGEST = 100_000  # characters or items that a demand for fewer is broken with
BREAKABLE = frozenset((
    "type", "enum", "const", "required", "additionalProperties", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "pattern", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "anyOf", "oneOf", "not",
))  # fmt: skip
UNKNOWN = ("unknown", "UNKNOWN", "other", "x", " ", "")


class Demand(msgspec.Struct, frozen=True):
    """A keyword of a schema that has a say in the part of a value at a place."""

    keyword: str
    schema: Mapping[str, Any]
    part: Any
    place: Path


def demands_on(schema: Any, value: Any, root: Mapping[str, Any]) -> list[Demand]:
    """Whatever is demanded of the value that can be broken."""
    return [
        Demand(keyword, node, part, place)
        for node, part, place in islice(_places(schema, value, root, (), 0), MOST_PLACES)
        for keyword in node
        if keyword in BREAKABLE
    ]


def break_demand(demand: Demand, schema: Any, value: Any, root: Mapping[str, Any]) -> list[Breach]:
    """Ways to do it. Each is the whole value, which no longer fits, and would but for this demand."""
    found = list[Breach]()
    for broken, at in _ways(demand.keyword, demand.schema, demand.part):
        if _is_alone(demand.keyword, demand.schema, broken, root):
            whole = _replaced(value, demand.place, broken)
            if fits(schema, whole, root) is not None:
                found.append(Breach(whole, demand.keyword, (*demand.place, *at)))
    return found


def find_breach(schema: Any, value: Any, root: Mapping[str, Any]) -> tuple[str, Path] | None:
    """The keyword of the schema that a value breaks, and where; None if it fits. Formats count."""
    misfit = fits(schema, value, root) is not None
    for node, part, place in _places(schema, value, root, (), 0):
        if not misfit and isinstance(part, str) and not has_format(node.get("format"), part):
            return "format", place
        for keyword in node if misfit else ():
            if keyword in BREAKABLE and (at := _where(keyword, node, part, root)) is not None:
                return keyword, (*place, *at)
    return ("schema", ()) if misfit else None


def _where(keyword: str, node: Mapping[str, Any], part: Any, root: Mapping[str, Any]) -> Path | None:
    """Where within a part the keyword is broken, if it is."""
    if keyword == "required" and isinstance(part, dict):
        return next(((name,) for name in names_in(node[keyword]) if name not in part), None)
    if keyword == "additionalProperties":
        kept: dict[str, Any] = {
            "properties": dict.fromkeys(mapping(node.get("properties")), True),
            "patternProperties": dict.fromkeys(mapping(node.get("patternProperties")), True),
            keyword: node[keyword],
        }
        given = part if isinstance(part, dict) else {}
        return next(((name,) for name in given if fits(kept, {name: given[name]}, root) is not None), None)
    return () if fits({keyword: node[keyword]}, part, root) is not None else None


def _places(
    schema: Any, value: Any, root: Mapping[str, Any], place: Path, deep: int
) -> Iterator[tuple[Mapping[str, Any], Any, Path]]:
    """Every part of the value with each of the schemas that have a say in it."""
    if not isinstance(schema, Mapping) or deep > DEEPEST:
        return
    if value is None and schema.get("nullable") is True:
        return
    yield schema, value, place
    if "$ref" in schema:
        yield from _places(find_reference(schema["$ref"], root), value, root, place, deep + 1)
    for part in listed(schema.get("allOf")):
        yield from _places(part, value, root, place, deep + 1)
    for part in (*listed(schema.get("anyOf")), *listed(schema.get("oneOf"))):
        if fits(part, value, root) is None:
            yield from _places(part, value, root, place, deep + 1)
    for key, inner in _members(schema, value):
        yield from _places(inner, value[key], root, (*place, key), deep + 1)


def _members(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """The keys of what lies within, with the schemas of it."""
    if isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        yield from ((name, inner) for name, inner in properties.items() if name in value)
        if isinstance(rest := schema.get("additionalProperties"), Mapping):
            yield from ((name, rest) for name in [*value][:MOST_PLACES] if name not in properties)
    if isinstance(value, list):
        rest = schema.get("items")
        first = rest if isinstance(rest, list) else listed(schema.get("prefixItems"))
        yield from enumerate(first[: len(value)])
        if isinstance(rest, Mapping):
            yield from ((place, rest) for place in range(len(first), min(len(value), len(first) + 3)))


def _is_alone(keyword: str, node: Mapping[str, Any], value: Any, root: Mapping[str, Any]) -> bool:
    """Whether the value breaks this demand of the schema and no other."""
    if fits(node, value, root) is None:
        return False
    rest = {key: demand for key, demand in node.items() if key != keyword}
    return fits(rest, value, root) is None


def _replaced(value: Any, place: Path, new: Any) -> Any:
    """A copy of the value that is new at this place."""
    if not place:
        return new
    key, rest = place[0], place[1:]
    if isinstance(value, dict):
        return {**value, key: _replaced(value[key], rest, new)}
    copy = list(value)
    copy[key] = _replaced(copy[key], rest, new)  # type: ignore[index]
    return copy


def _ways(keyword: str, node: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Path]]:
    """Values instead of this one that may break the demand, and where within them."""
    wanted = node[keyword]
    if keyword == "required" and isinstance(value, dict):
        for name in names_in(wanted):
            yield {key: each for key, each in value.items() if key != name}, (name,)
    elif keyword == "additionalProperties" and isinstance(value, dict) and wanted is False:
        for name in _strangers(node):
            yield {**value, name: 1}, (name,)
    else:
        for broken in _others(keyword, wanted, node, value):
            yield broken, ()


def _strangers(node: Mapping[str, Any]) -> list[str]:
    known = mapping(node.get("properties"))
    near = [name for each in [*known][:2] for name in (each.upper(), f"{each}s", f" {each}")]
    return [name for name in ("unexpected", *near, "") if name not in known]


def _others(keyword: str, wanted: Any, node: Mapping[str, Any], value: Any) -> list[Any]:
    match keyword:
        case "type" | "anyOf" | "oneOf" | "not":
            return [each for some in BY_KIND.values() for each in some]
        case "enum":
            return _unlike(listed(wanted))
        case "const":
            return _unlike([wanted])
        case "minimum" | "exclusiveMinimum" if is_number(wanted) and abs(wanted) < 10**300:
            return beyond(wanted, up=False, whole=isinstance(value, int))
        case "maximum" | "exclusiveMaximum" if is_number(wanted) and abs(wanted) < 10**300:
            return beyond(wanted, up=True, whole=isinstance(value, int))
        case "multipleOf" if is_number(value):
            return [value + 1, value + 0.5, value + wanted / 2] if abs(value) < 10**15 else []
        case "pattern" if isinstance(value, str):
            return [value + "!", value[:-1], value[::-1], f" {value}", value.swapcase(), *TEXTS]
        case "minLength" | "maxLength" if isinstance(value, str):
            return _resized(value, keyword, node, "a")
        case "minItems" | "maxItems" if isinstance(value, list):
            return _resized(value, keyword, node, [None])
        case "uniqueItems" if isinstance(value, list) and value:
            return [[*value, value[0]], [value[0], *value[:-1]]]
        case "minProperties" if isinstance(value, dict):
            required = names_in(node.get("required"))
            return [{}, {name: each for name, each in value.items() if name in required}]
        case "maxProperties" if isinstance(value, dict):
            most = count(node, keyword, LONGEST)
            return [{**value, **{f"key{number}": 1 for number in range(most + 1)}}] if most < 1000 else []
    return []


def _resized(value: Any, keyword: str, node: Mapping[str, Any], filling: Any) -> list[Any]:
    """The text or list with too little in it, or too much."""
    limit = count(node, keyword, LONGEST)
    if keyword.startswith("min"):
        return [value[: max(0, limit - 1)], value[:0], value[:1]]
    if limit >= LONGEST:
        return []
    filling = value or filling
    more = filling * (limit // len(filling) + 2)
    return [
        value + more[: limit + 1 - len(value)],
        more[: limit + 1],
        *([more[: limit * 2 + 10]] if limit < 1000 else []),
    ]


def _unlike(known: list[Any]) -> list[Any]:
    """Values that are none of those, but nearly."""
    near = list[Any]()
    for each in known[:5]:
        if isinstance(each, str):
            near += [each.swapcase(), f"{each} ", f"{each}s", each[:-1]]
        elif is_number(each):
            near += [each + 1, each - 1, -each, each + 1000]
    if any(isinstance(each, str) for each in known):
        near += UNKNOWN
    return near or [each for some in BY_KIND.values() for each in some]
