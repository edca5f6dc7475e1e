"""Converts Python type hints to JSON schemas, including `Annotated` metadata and quoted hints."""

import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import json
import pathlib
import re
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from misstep.adapters.loading.registry import is_of_framework
from misstep.adapters.loading.source import unwrapped


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of all parameters. Raises `NameError`, and whatever code in a hint raises."""
    return _resolved(function, lambda name: name != "return")


def return_hint(function: Callable[..., Any]) -> Any:
    """The return hint; `Any` if a decorator may change the result. Raises like `hints_of`."""
    if _is_wrapped(function):
        return Any
    return _resolved(function, lambda name: name == "return").get("return", Any)


def _is_wrapped(function: Any) -> bool:
    """Whether a decorator may change the result; caches and frameworks don't."""
    if isinstance(function, functools.partial):
        return _is_wrapped(function.func)
    if inspect.ismethod(function):
        return _is_wrapped(function.__func__)
    if not hasattr(function, "__wrapped__"):
        return False
    home = str(getattr(function, "__globals__", {}).get("__name__", ""))
    if isinstance(function, functools._lru_cache_wrapper) or is_of_framework(home):
        return _is_wrapped(function.__wrapped__)
    return True


def _resolved(function: Callable[..., Any], wanted: Callable[[str], bool]) -> dict[str, Any]:
    plain = unwrapped(function)
    hints = getattr(plain, "__annotations__", None) or {}
    bare = types.SimpleNamespace(__annotations__={name: hints[name] for name in hints if wanted(name)})
    return typing.get_type_hints(bare, getattr(plain, "__globals__", {}), include_extras=True)


KEYWORDS = {
    "description": "description",
    "documentation": "description",
    "title": "title",
    "examples": "examples",
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


def marked(schema: dict[str, Any], marks: Iterable[Any]) -> dict[str, Any]:
    """The schema with what the metadata adds to it; unknown metadata is ignored."""
    for mark in marks:
        if isinstance(mark, str):
            schema = {**schema, "description": mark}
        elif not inspect.isclass(mark):
            schema = {**schema, **_said(mark, str(schema.get("type")))}
            inner = getattr(mark, "metadata", None)  # of a Pydantic field
            schema = marked(schema, inner if isinstance(inner, list | tuple) else ())
    return schema


def _said(mark: Any, kind: str) -> dict[str, Any]:
    size = LENGTHS.get(kind, LENGTHS["string"])
    words = {**KEYWORDS, "min_length": f"min{size}", "max_length": f"max{size}"}
    told = {name: _plain(getattr(mark, name, None)) for name in words}
    said = {words[name]: value for name, value in told.items() if value is not None}
    extra = getattr(mark, "json_schema_extra", None) or getattr(mark, "extra_json_schema", None)
    return {**said, **extra} if isinstance(extra, dict) else said


def _plain(value: Any) -> Any:
    """The value if it is JSON; a pattern as its source text."""
    if isinstance(value, re.Pattern):
        return value.pattern
    return value if isinstance(value, str | int | float | list) else None


PLAIN: dict[Any, dict[str, Any]] = {
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
    None: {"type": "null"},
    type(None): {"type": "null"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    decimal.Decimal: {"type": "number"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string", "format": "path"},
    pathlib.PurePath: {"type": "string", "format": "path"},
}
WRAPPERS = ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar")
HOMES_OF_COLLECTIONS = ("builtins", "collections", "collections.abc", "typing")


class Inexpressible(Exception):
    """JSON cannot represent values of a type."""


class Definitions:
    """Writes schemas; named types are defined once in `written` and referenced."""

    def __init__(self) -> None:
        self.written = dict[str, Any]()
        self._names = dict[type, str]()

    def schema(self, hint: Any) -> dict[str, Any]:
        """The schema of what a hint allows. Raises `Inexpressible`."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            return marked(self.schema(arguments[0]), hint.__metadata__)
        if origin is typing.Literal:
            return choice([each.value if isinstance(each, enum.Enum) else each for each in arguments])
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.schema(each) for each in arguments]}
        if getattr(origin, "_name", None) in WRAPPERS or getattr(origin, "__name__", None) in WRAPPERS:
            return self.schema(arguments[0])
        if isinstance(origin or hint, type):
            return self._of_class(origin or hint, arguments)
        return self._of_alias(hint)

    def _of_alias(self, hint: Any) -> dict[str, Any]:
        """The schema of a type alias or type variable."""
        if hint in PLAIN:
            return dict(PLAIN[hint])
        if isinstance(hint, typing.TypeVar):
            constraints = hint.__constraints__ or (hint.__bound__ or Any,)
            return self.schema(typing.Union[constraints])  # noqa: UP007 -- known at run time only
        for name in ("__supertype__", "__value__"):
            if hasattr(hint, name):
                return self.schema(getattr(hint, name))
        raise Inexpressible

    def _of_class(self, kind: type, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if kind in PLAIN:
            return dict(PLAIN[kind])
        if issubclass(kind, enum.Enum):
            return choice([each.value for each in kind])
        if callable(write := getattr(kind, "model_json_schema", None)):
            return self.adopt(write())
        if issubclass(kind, msgspec.Struct):
            return self.adopt(msgspec.json.schema(kind))
        # Also true for typed dicts of typing_extensions, which typing does not recognise.
        if dataclasses.is_dataclass(kind) or hasattr(kind, "__required_keys__"):
            return self.name(kind, self._of_fields)
        if kind.__module__ in HOMES_OF_COLLECTIONS:
            return self._of_collection(kind, arguments)
        for base in (str, int, float, *PLAIN):
            if isinstance(base, type) and base is not object and issubclass(kind, base):
                return dict(PLAIN[base])
        raise Inexpressible

    def _of_collection(self, kind: type, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if issubclass(kind, Mapping):
            inner = self.schema(arguments[1]) if len(arguments) == 2 else {}
            return {"type": "object", "additionalProperties": inner or True}
        if issubclass(kind, tuple) and arguments and arguments[-1] is not Ellipsis:
            items = [self.schema(each) for each in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if not issubclass(kind, Iterable):
            raise Inexpressible
        schema: dict[str, Any] = {"type": "array"}
        if arguments and (inner := self.schema(arguments[0])):
            schema["items"] = inner
        return {**schema, "uniqueItems": True} if issubclass(kind, AbstractSet) else schema

    def name(self, kind: type, write: Callable[[type], dict[str, Any]]) -> dict[str, Any]:
        """A reference to the definition of a class with fields, which may be recursive."""
        if kind not in self._names:
            name = self._names[kind] = self._free(kind.__name__)
            self.written[name] = {}
            self.written[name] = write(kind)
        return {"$ref": f"#/$defs/{self._names[kind]}"}

    def _of_fields(self, kind: type) -> dict[str, Any]:
        hints = typing.get_type_hints(kind, include_extras=True)
        if dataclasses.is_dataclass(kind):
            fields = [field for field in dataclasses.fields(kind) if field.init]
            required = [field.name for field in fields if is_required(field)]
            properties = {
                field.name: with_default(self.schema(hints[field.name]), field.default) for field in fields
            }
        else:
            required = [name for name in hints if name in getattr(kind, "__required_keys__", ())]
            properties = {name: self.schema(hint) for name, hint in hints.items()}
        schema = {"type": "object", "properties": properties, "required": required}
        told = inspect.cleandoc(kind.__doc__ or "")
        is_generated = told.startswith(f"{kind.__name__}(")  # Python's docstring for dataclasses
        description = {"description": told} if told and not is_generated else {}
        return {**schema, "additionalProperties": False, **description}

    def adopt(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A foreign schema, with its definitions added to ours."""
        definitions = schema.pop("$defs", {})
        names = {
            name: name if self.written.get(name, each) == each else self._free(name)
            for name, each in definitions.items()
        }
        self.written |= {names[name]: _renamed(each, names) for name, each in definitions.items()}
        adopted: dict[str, Any] = _renamed(schema, names)
        return adopted

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self.written:
            number += 1
            free = f"{name}{number}"
        return free


def with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """The schema with a default, if JSON can represent it."""
    value = default.value if isinstance(default, enum.Enum) else default
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return schema
    return {**schema, "default": value}


def choice(values: list[Any]) -> dict[str, Any]:
    """An enum of these values, with their type if they share one."""
    kinds = {type(value) for value in values}
    kind = PLAIN.get(kinds.pop(), {}) if len(kinds) == 1 else {}
    return {**kind, "enum": values}


def is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    if isinstance(schema, list):
        return [_renamed(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _renamed(value, names) for key, value in schema.items()}
    reference = schema.get("$ref")
    if isinstance(reference, str) and (name := reference.removeprefix("#/$defs/")) in names:
        changed["$ref"] = f"#/$defs/{names[name]}"
    return changed
