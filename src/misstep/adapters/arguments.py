"""The arguments of a call, as models and frameworks hand them over.

Mends references in JSON schemas, for frameworks that lose what stands beside one.
"""

import copy
import json
from typing import Any

from misstep.schemas.shape import find_reference

SAYS_NOTHING = {"type", "title", "description", "$schema", "$id"}


def read_arguments(given: Any) -> Any:
    """Arguments out of JSON; what is no JSON stays the text it is, and nothing at all means none."""
    if given is None:
        return {}
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def takes_arguments(schema: dict[str, Any]) -> bool:
    """Whether there is anything to say about the arguments of a tool with this schema."""
    said = {name: part for name, part in schema.items() if part not in ({}, [], False)}
    return not said.keys() <= SAYS_NOTHING


def open_model(schema: dict[str, Any]) -> Any:
    """A class of Pydantic models that shows this schema and lets all arguments pass as they are.

    For frameworks that know the arguments of a tool by such a class, which would check or mend them.
    """
    from pydantic import BaseModel, ConfigDict

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return copy.deepcopy(schema)

    return Arguments


DEEPEST = 20  # references within what references lead to
MOST_PARTS = 20_000  # that are looked at: each level of a schema may double what the one below it has


def merge_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in which nothing stands beside a reference: what it leads to is in the place of both.

    What stood beside it goes before. Within what it refers to, a reference stays as it is. So do all others
    in a schema that would grow too large.
    """
    merged: dict[str, Any] = _Merger(schema).merged(schema, ())
    return merged


class _Merger:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._left = MOST_PARTS

    def merged(self, part: Any, open_references: tuple[str, ...]) -> Any:
        self._left -= 1
        if isinstance(part, list):
            return [self.merged(each, open_references) for each in part]
        if not isinstance(part, dict):
            return part
        reference = part.get("$ref")
        beside = {name: each for name, each in part.items() if name != "$ref"}
        if beside and isinstance(reference, str) and self._may_open(reference, open_references):
            found = find_reference(reference, self._root)
            if isinstance(found, dict):
                return self.merged({**found, **beside}, (*open_references, reference))
        return {name: self.merged(each, open_references) for name, each in part.items()}

    def _may_open(self, reference: str, open_references: tuple[str, ...]) -> bool:
        return self._left > 0 and len(open_references) < DEEPEST and reference not in open_references
