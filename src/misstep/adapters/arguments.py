"""Reads call arguments as models and frameworks pass them, and adapts JSON schemas to frameworks."""

import copy
import json
from typing import Any

from misstep.schemas.shape import find_reference

SAYS_NOTHING = {"type", "title", "description", "$schema", "$id"}


def read_arguments(given: Any) -> Any:
    """Parse arguments from JSON; invalid JSON stays a text, and nothing at all means no arguments."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def takes_arguments(schema: dict[str, Any]) -> bool:
    """Whether the schema says anything about arguments."""
    said = {name: part for name, part in schema.items() if part not in ({}, [], False)}
    return not said.keys() <= SAYS_NOTHING


def open_model(schema: dict[str, Any]) -> Any:
    """A Pydantic model class that shows this schema, but neither validates nor converts arguments."""
    from pydantic import BaseModel, ConfigDict

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return copy.deepcopy(schema)

    return Arguments


DEEPEST = 20  # nesting of references
MOST_PARTS = 20_000  # schema parts visited, since every level may double the size


def merge_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every reference that has other keywords beside it replaced by its target.

    Those keywords override the target's. A reference within its own target stays, and so do all others once
    the schema would grow too large. For frameworks that ignore keywords beside a reference.
    """
    left = MOST_PARTS

    def merged(part: Any, open_references: tuple[str, ...]) -> Any:
        nonlocal left
        left -= 1
        if isinstance(part, list):
            return [merged(each, open_references) for each in part]
        if not isinstance(part, dict):
            return part
        reference = part.get("$ref")
        beside = {name: each for name, each in part.items() if name != "$ref"}
        fits = left > 0 and len(open_references) < DEEPEST and reference not in open_references
        if beside and fits and isinstance(reference, str):
            found = find_reference(reference, schema)
            if isinstance(found, dict):
                return merged({**found, **beside}, (*open_references, reference))
        return {name: merged(each, open_references) for name, each in part.items()}

    whole: dict[str, Any] = merged(schema, ())
    return whole
