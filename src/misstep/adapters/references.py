"""Mends references in JSON schemas, for frameworks that lose what stands beside one."""

from typing import Any


def merge_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in which nothing stands beside a reference: what it leads to is in the place of both.

    What stood beside it goes before. Within what it refers to, a reference stays as it is.
    """
    merged: dict[str, Any] = _merged(schema, schema, ())
    return merged


def _merged(part: Any, root: Any, open_references: tuple[str, ...]) -> Any:
    if isinstance(part, list):
        return [_merged(each, root, open_references) for each in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    beside = {name: each for name, each in part.items() if name != "$ref"}
    if beside and isinstance(reference, str) and reference not in open_references:
        found = _resolve(root, reference)
        if found is not None:
            return _merged({**found, **beside}, root, (*open_references, reference))
    return {name: _merged(each, root, open_references) for name, each in part.items()}


def _resolve(root: Any, reference: str) -> dict[str, Any] | None:
    """What a reference within the schema leads to, if that is a schema with something in it."""
    here, *steps = reference.split("/")
    for step in steps:
        root = root.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(root, dict) else None
    return root if here == "#" and isinstance(root, dict) else None
