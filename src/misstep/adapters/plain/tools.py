"""Calls plain functions with JSON arguments, converted as a framework would."""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from misstep.adapters.toolset.call_interceptor import refused, takes
from misstep.adapters.toolset.calling import Loop, spent
from misstep.adapters.toolset.functions import signature_of
from misstep.adapters.toolset.hints import hints_of

AS_THEY_ARE = (Any, object, inspect.Parameter.empty, None, type(None), str, int, float, bool, list, dict)


class PlainCall:
    """Calls one function. It is its own entry: `set` replaces the function.

    Texts, numbers, lists and dicts are passed unchanged, whatever the type hints say. If a hint asks for
    something that JSON does not have, such as a date or a class with fields, the value is converted.
    """

    def __init__(self, function: Callable[..., Any], loop: Loop) -> None:
        self._function = function
        self._loop = loop
        self._signature = signature_of(function)
        self._nameless = _nameless(self._signature)
        self._makers = _makers(function)

    def get(self) -> Callable[..., Any]:
        return self._function

    def set(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, arguments: dict[str, Any]) -> Any:
        if self._makers:
            arguments = {name: self._made(name, value) for name, value in arguments.items()}
        places, arguments = self._placed(arguments) if self._nameless else ((), arguments)
        try:
            return spent(self._loop.settle(self._function(*places, **arguments)))
        except TypeError as error:
            if takes(self._signature, places, arguments):
                raise
            raise refused(error) from error

    def _placed(self, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Split into positional arguments, up to the last one given, and keyword arguments.

        The positional ones end before a missing one without a default: the function will raise for that one.
        """
        named = dict(arguments)
        last = max((place for place, each in enumerate(self._nameless) if each.name in named), default=-1)
        places = list[Any]()
        for each in self._nameless[: last + 1]:
            value = named.pop(each.name, each.default)
            if value is inspect.Parameter.empty:
                break
            places.append(value)
        return tuple(places), named

    def _made(self, name: str, value: Any) -> Any:
        make = self._makers.get(name)
        if make is None:
            return value
        try:
            return make(value)
        except (ValueError, TypeError) as error:  # includes the errors of Pydantic and msgspec
            raise refused(error) from error


def _nameless(signature: inspect.Signature | None) -> list[inspect.Parameter]:
    """The positional-only parameters."""
    parameters = signature.parameters.values() if signature else ()
    return [each for each in parameters if each.kind is each.POSITIONAL_ONLY]


def _makers(function: Callable[..., Any]) -> dict[str, Callable[[Any], Any]]:
    """Converters for parameters whose types JSON does not have."""
    return {name: _maker(hint) for name, hint in hints_of(function).items() if not is_json(hint)}


def is_json(hint: Any) -> bool:
    """Whether a hint asks for the JSON value itself."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return is_json(arguments[0])
    if origin is typing.Literal:
        return all(isinstance(each, str | int | bool | None) for each in arguments)
    if origin in (typing.Union, types.UnionType):
        return all(is_json(each) for each in arguments)
    if typing.is_typeddict(hint):
        return all(is_json(each) for each in typing.get_type_hints(hint).values())
    kind = origin or hint
    if inspect.isclass(kind) and kind.__module__ in ("collections.abc", "typing"):
        return all(is_json(each) for each in arguments) and _is_list_or_dict(kind)
    return kind in AS_THEY_ARE and all(is_json(each) for each in arguments)


def _is_list_or_dict(kind: type) -> bool:
    return issubclass(list, kind) or (issubclass(kind, Mapping) and issubclass(dict, kind))


def _maker(hint: Any) -> Callable[[Any], Any]:
    """A converter for a hint: Pydantic's, if it is installed, because it handles its own models."""
    if (pydantic := sys.modules.get("pydantic")) is not None and hasattr(pydantic, "TypeAdapter"):
        try:
            adapter = pydantic.TypeAdapter(hint)
        except Exception:  # an unsupported type
            pass
        else:
            make: Callable[[Any], Any] = adapter.validate_python
            return make
    return lambda value: msgspec.convert(value, hint, strict=False, dec_hook=lambda kind, each: kind(each))
