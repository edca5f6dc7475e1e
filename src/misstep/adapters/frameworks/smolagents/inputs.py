"""What smolagents has to be told of a JSON schema."""

from typing import Any

from misstep.adapters.arguments import takes_arguments

ANYTHING = {"type": "any", "description": ""}  # what the framework wants to be told of every input
SIMPLE = ("string", "boolean", "integer", "number")
TYPES = (*SIMPLE, "array", "object", "null")


def inputs_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """What the framework has to know of a JSON schema so as to refuse nothing that fits it."""
    closed = parameters.get("additionalProperties") is False
    required = parameters.get("required", ())
    inputs = dict[str, Any]() if closed else _Open()
    for name, schema in parameters.get("properties", {}).items():
        optional = {} if name in required else {"nullable": True}
        inputs[name] = {**ANYTHING, **_type_and_description(schema), **optional}
    return inputs


class _Open(dict[str, Any]):
    """The inputs of a tool that takes arguments of any name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> dict[str, Any]:
        return dict(ANYTHING)


def _type_and_description(schema: Any) -> dict[str, Any]:
    """Those two, as far as the schema has them; the framework takes an integer for none of several types."""
    told = schema if isinstance(schema, dict) else {}
    known = {key: told[key] for key in ANYTHING if isinstance(told.get(key), str)}
    return known if known.get("type") in TYPES else {**known, "type": "any"}


def is_told_by_types(parameters: dict[str, Any]) -> bool:
    """Whether the types and descriptions of its parameters are all that there is to a tool."""
    told = parameters.get("properties") or {}
    parts = [each for each in told.values() if isinstance(each, dict) and each.get("type") in SIMPLE]
    simple = len(parts) == len(told) and all(part.keys() <= ANYTHING.keys() for part in parts)
    rest = {name: part for name, part in parameters.items() if name not in ("properties", "required")}
    return simple and set(told) <= set(parameters.get("required", ())) and not takes_arguments(rest)
