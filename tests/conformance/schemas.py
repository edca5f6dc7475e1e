"""What a JSON schema means, so that two that say the same in other words can be compared."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Rewrite = Callable[[Json], Json]


def unchanged(schema: Json) -> Json:
    return schema


def meaning(schema: Any) -> Any:
    """The schema with its references written out, and without what says nothing.

    Within what it refers to, a reference to itself stays one.
    """
    return _meaning(schema, schema, ())


def _meaning(schema: Any, root: Json, open_references: tuple[str, ...]) -> Any:
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if reference in open_references:
        return {"$ref": reference}
    if reference:
        found = {**_found(root, reference), **{name: part for name, part in schema.items() if name != "$ref"}}
        return _meaning(found, root, (*open_references, reference))
    parts = {name: _part(name, part, root, open_references) for name, part in schema.items()}
    says_nothing = [name for name, part in parts.items() if name in ("$defs", "title") or part in ({}, [])]
    kept = {name: part for name, part in parts.items() if name not in says_nothing}
    match kept:
        case {"anyOf": [dict(only)], **rest}:  # of one is that one
            return {**only, **rest}
    return {**kept, "required": sorted(kept["required"])} if "required" in kept else kept


def _part(name: str, part: Any, root: Json, open_references: tuple[str, ...]) -> Any:
    def inside(each: Any) -> Any:
        return _meaning(each, root, open_references)

    match name:
        case "properties":
            return {key: inside(each) for key, each in part.items()}
        case "anyOf" | "oneOf" | "allOf" | "prefixItems":
            return [inside(each) for each in part]
        case "items" | "additionalProperties":
            return inside(part)
    return part


def _found(root: Json, reference: str) -> Json:
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def everywhere(change: Rewrite) -> Rewrite:
    """Applies a change to a schema and to all that are inside it."""

    def changed(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        inner = dict(schema)
        for name in ("items", "additionalProperties"):
            if name in inner:
                inner[name] = changed(inner[name])
        if "properties" in inner:
            inner["properties"] = {key: changed(each) for key, each in inner["properties"].items()}
        if "anyOf" in inner:
            inner["anyOf"] = [changed(each) for each in inner["anyOf"]]
        return change(inner)

    return changed


def closed(schema: Json) -> Json:
    """Says that there are no other arguments than those listed, where nothing was said about that."""
    return {"additionalProperties": False, **schema}
