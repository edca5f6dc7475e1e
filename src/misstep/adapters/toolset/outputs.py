"""The JSON schema of what a function returns, as far as its type hint is certain."""

import dataclasses
import datetime
import enum
import json
import types
import typing
import uuid
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from misstep.adapters.toolset.hints import WRAPPERS, Definitions, choice, is_required, marked, return_hint

Schema: typing.TypeAlias = dict[str, Any]

# Types as JSON. In Python, booleans are integers, and these are valid floats.
PLAIN: dict[Any, Schema] = {
    None: {"type": "null"},
    type(None): {"type": "null"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": ["integer", "boolean"]},
    float: {"type": ["number", "boolean"]},
    bytes: {"type": "string"},
    datetime.datetime: {"type": "string"},
    datetime.date: {"type": "string"},
    datetime.time: {"type": "string"},
    datetime.timedelta: {"type": "string"},
    uuid.UUID: {"type": "string"},
}
LISTS = (list, tuple, set, frozenset, AsyncIterable)
LISTED = {"type": ["array", "string", "object"]}  # texts and mappings are iterable too
ABSTRACT = ("collections.abc", "typing")  # modules whose classes stand for anything with the same interface
BASES = (str, int, float, dict, *LISTS[:4])  # of user-defined classes


def output_of(function: Callable[..., Any]) -> Schema | None:
    """The JSON schema of a function's result, or None if its hint allows anything.

    It never requires more than the hint does: additional fields are always allowed, and parts of the hint
    that JSON cannot express, or that are unknown, allow anything.
    """
    definitions = Definitions()
    try:
        schema = _Reading(definitions).schema(return_hint(function))
    except Exception:  # an error in a user's hint does not make the tool unusable
        return None
    return {**schema, "$defs": definitions.written} if schema and definitions.written else schema or None


class _Reading:
    """Reads a hint recursively; an empty schema allows anything."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._open = set[Any]()  # type aliases being read, which may be recursive

    def schema(self, hint: Any) -> Schema:
        try:
            return self._read(hint)
        except Exception:  # from the user's code, such as a schema that cannot be generated
            return {}

    def _read(self, hint: Any) -> Schema:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            inner = self.schema(arguments[0])
            return marked(inner, hint.__metadata__) if inner else {}
        if origin is typing.Literal:
            return _one_of([each.value if isinstance(each, enum.Enum) else each for each in arguments])
        if origin in (typing.Union, types.UnionType):
            parts = [self.schema(each) for each in arguments]
            return {"anyOf": parts} if all(parts) else {}
        if getattr(origin, "_name", None) in WRAPPERS or getattr(origin, "__name__", None) in WRAPPERS:
            return self.schema(arguments[0])
        kind = origin or hint
        if kind in PLAIN:
            return dict(PLAIN[kind])
        return self._of_class(kind, arguments) if isinstance(kind, type) else self._behind(hint)

    def _behind(self, hint: Any) -> Schema:
        meant = getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)
        if meant is None or hint in self._open:
            return {}
        self._open.add(hint)
        try:
            return self.schema(meant)
        finally:
            self._open.remove(hint)

    def _of_class(self, kind: type, arguments: tuple[Any, ...]) -> Schema:
        if issubclass(kind, enum.Enum):
            return {} if issubclass(kind, enum.Flag) else _one_of([each.value for each in kind])
        if callable(write := getattr(kind, "model_json_schema", None)):
            return self._of_model(kind, write)
        if issubclass(kind, msgspec.Struct):
            return self._definitions.adopt(_loosened(msgspec.json.schema(kind)))
        # Also true for typed dicts of typing_extensions, which typing does not recognise.
        if hasattr(kind, "__required_keys__"):
            return self._definitions.name(kind, self._of_typed_dict)
        if issubclass(kind, BASES) or kind.__module__ in ABSTRACT:
            known = kind.__module__ in ("builtins", "collections", *ABSTRACT)
            return self._of_collection(kind, arguments if known else ())
        return self._definitions.name(kind, self._of_dataclass) if dataclasses.is_dataclass(kind) else {}

    def _of_collection(self, kind: type, arguments: tuple[Any, ...]) -> Schema:
        if issubclass(kind, Awaitable):
            return self.schema(arguments[-1]) if arguments else {}
        if issubclass(kind, str | int | float):
            return dict(next(PLAIN[base] for base in BASES if issubclass(kind, base)))
        if issubclass(kind, Mapping):
            inner = self.schema(arguments[1]) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": inner} if inner else {})}
        if kind is tuple and arguments and arguments[-1] is not Ellipsis:
            if any(typing.get_origin(each) is typing.Unpack for each in arguments):
                return {"type": "array"}
            items = [self.schema(each) for each in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if not issubclass(kind, Iterable | AsyncIterable):
            return {}
        schema = {"type": "array"} if issubclass(kind, LISTS) else LISTED
        inner = self.schema(arguments[0]) if arguments else {}
        return {**schema, **({"items": inner} if inner else {})}

    def _of_typed_dict(self, kind: Any) -> Schema:
        hints = typing.get_type_hints(kind, include_extras=True)
        return self._of_fields(hints, [name for name in hints if name in kind.__required_keys__])

    def _of_dataclass(self, kind: Any) -> Schema:
        """Without private fields, which are left out of JSON."""
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = [field for field in dataclasses.fields(kind) if not field.name.startswith("_")]
        required = [field.name for field in fields if is_required(field)]
        return self._of_fields({field.name: hints[field.name] for field in fields}, required)

    def _of_fields(self, hints: Mapping[str, Any], required: list[str]) -> Schema:
        properties = {name: self.schema(hint) for name, hint in hints.items()}
        return {"type": "object", "properties": properties, "required": required}

    def _of_model(self, kind: Any, write: Callable[..., Schema]) -> Schema:
        """The schema of a serialised Pydantic model. Fields with an alias are not required."""
        schema = _loosened(write(by_alias=False, mode="serialization"), "required", "pattern")
        if "properties" not in schema:
            return self._definitions.adopt(schema)
        fields = kind.model_fields.items()
        required = [
            name
            for name, field in fields
            if field.is_required() and not (field.alias or field.serialization_alias or field.exclude)
        ]
        return self._definitions.adopt({**schema, "required": required})


def _one_of(values: list[Any]) -> Schema:
    json.dumps(values, allow_nan=False)  # raises if one of them is not JSON
    return choice(values)


def _loosened(schema: Any, *keywords: str) -> Any:
    """The schema with additional fields allowed and some keywords removed."""
    if isinstance(schema, list):
        return [_loosened(each, *keywords) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _loosened(value, *keywords)
        for key, value in schema.items()
        if not (key == "additionalProperties" and value is False)
        and not (key in keywords and isinstance(value, str | list))
    }
