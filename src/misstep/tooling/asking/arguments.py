"""Arguments of a tool that a model is asked for, as a strict schema where there can be one."""

from collections.abc import Mapping
from typing import Any

from misstep.core.strict import Schema
from misstep.schemas.shape import flatten, listed, mapping

DEEPEST = 4  # objects and lists within each other
MOST_ITEMS = 20  # of a list

_NULL: Schema = {"type": "null"}


def arguments_schema(parameters: Mapping[str, Any]) -> Schema:
    """The arguments that a tool's schema allows, those that may be left out as null.

    Any object where that can't be said, for example with keys of the model's choice.
    """
    return _strict(parameters, parameters) or {"type": "object"}


def given_arguments(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null because a strict schema wants every parameter named."""
    required = listed(parameters.get("required"))
    return {name: value for name, value in arguments.items() if value is not None or name in required}


def _strict(schema: Any, root: Mapping[str, Any], deep: int = 0) -> Schema | None:
    flat = flatten(schema, root)
    if not flat or deep > DEEPEST:
        return None
    if values := listed(flat.get("enum")):
        return {"enum": values}
    if options := listed(flat.get("anyOf")) or listed(flat.get("oneOf")):
        return _any_of([_strict(each, root, deep) for each in options])
    kind = flat.get("type", "object" if "properties" in flat else None)
    if isinstance(kind, list):
        return _any_of([_strict({**flat, "type": each}, root, deep) for each in kind])
    match kind:
        case "object":
            return _object(flat, root, deep)
        case "array":
            items = _strict(flat.get("items"), root, deep + 1)
            return items and {"type": "array", "items": items, "maxItems": MOST_ITEMS}
        case "string" | "integer" | "number" | "boolean" | "null":
            return {"type": kind}
    return None


def _object(flat: Schema, root: Mapping[str, Any], deep: int) -> Schema | None:
    properties, required = mapping(flat.get("properties")), listed(flat.get("required"))
    made = {name: _strict(each, root, deep + 1) for name, each in properties.items()}
    if not properties or None in made.values():
        return None
    # Within other values, all properties are asked for, so that no null has to be taken out of them.
    told = {name: each if deep or name in required else _any_of([each, _NULL]) for name, each in made.items()}
    return {"type": "object", "properties": told, "required": list(told), "additionalProperties": False}


def _any_of(options: list[Schema | None]) -> Schema | None:
    known = [each for each in options if each is not None]
    return {"anyOf": known} if len(known) == len(options) else None
