"""The arguments of a call, as models and frameworks hand them over."""

import copy
import json
from typing import Any

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
