"""Makes an invalid value that violates exactly one constraint of a schema."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from misstep.core.tool import Path
from misstep.fuzzing.inputs.edges import BY_KIND, TEXTS, beyond
from misstep.fuzzing.inputs.slots import Breach, put
from misstep.schemas.limits import is_number
from misstep.schemas.schema import BREAKABLE, fits, places_in
from misstep.schemas.shape import as_list, count, mapping, names_in

MOST_PLACES = 40
LONGEST = 100_000  # characters or items to exceed a maximum with
UNKNOWN = ("unknown", "UNKNOWN", "other", "x", " ", "")


class SchemaDemand(msgspec.Struct, frozen=True):
    """A keyword of a schema that applies to the part of a value at a path."""

    keyword: str
    schema: Mapping[str, Any]
    part: Any
    place: Path


def demands_on(schema: Any, value: Any, root: Mapping[str, Any]) -> list[SchemaDemand]:
    """All constraints on the value that can be violated."""
    return [
        SchemaDemand(keyword, node, part, place)
        for node, part, place in islice(places_in(schema, value, root), MOST_PLACES)
        for keyword in node
        if keyword in BREAKABLE
    ]


def break_demand(demand: SchemaDemand, schema: Any, value: Any, root: Mapping[str, Any]) -> list[Breach]:
    """Values that violate this constraint and no other. Each is the whole value."""
    found = list[Breach]()
    for broken, at in _ways(demand.keyword, demand.schema, demand.part):
        if _is_alone(demand.keyword, demand.schema, broken, root):
            whole = put(value, demand.place, broken)
            if fits(schema, whole, root) is not None:
                found.append(Breach(whole, demand.keyword, (*demand.place, *at)))
    return found


def _is_alone(keyword: str, node: Mapping[str, Any], value: Any, root: Mapping[str, Any]) -> bool:
    """Whether the value violates this constraint of the schema and no other."""
    if fits(node, value, root) is None:
        return False
    rest = {key: demand for key, demand in node.items() if key != keyword}
    return fits(rest, value, root) is None


def _ways(keyword: str, node: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Path]]:
    """Replacement values that may violate the constraint, and where in them."""
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
            return _unlike(as_list(wanted))
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
    """The text or list, too short or too long."""
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
    """Values that differ slightly from the known ones."""
    near = list[Any]()
    for each in known[:5]:
        if isinstance(each, str):
            near += [each.swapcase(), f"{each} ", f"{each}s", each[:-1]]
        elif is_number(each):
            near += [each + 1, each - 1, -each, each + 1000]
    if any(isinstance(each, str) for each in known):
        near += UNKNOWN
    return near or [each for some in BY_KIND.values() for each in some]
