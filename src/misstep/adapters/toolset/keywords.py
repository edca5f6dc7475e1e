"""Keywords of JSON Schema that are used in a way that means nothing."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Place: TypeAlias = tuple[str, ...]


def find_misused(schema: dict[str, Any]) -> Place | None:
    """Where the first keyword stands that has a value it can't have; unknown keywords may have any."""
    return next(_misused(schema, ()), None)


def _misused(schema: Any, place: Place) -> Iterator[Place]:
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        here = (*place, keyword)
        if not _FORMS.get(keyword, _is_anything)(value):
            yield here
        elif keyword in _NAMED:
            for name, inner in value.items():
                yield from _misused(inner, (*here, name))
        elif keyword in _INNER:
            for inner in value if isinstance(value, list) else [value]:
                yield from _misused(inner, here)


def _is_anything(_value: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_limit(value: Any) -> bool:
    """A number, or as it was once: whether the other limit is one that itself is not allowed."""
    return isinstance(value, int | float)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and all(_is_schema(each) for each in value)


def _are_named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_schema(each) for each in value.values())


_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_INNER = ("additionalProperties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "not")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_FORMS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_NAMED, _are_named_schemas),
    **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), _are_schemas),
    **dict.fromkeys(("additionalProperties", "not"), _is_schema),
    **dict.fromkeys((*_COUNTS, "minimum", "maximum", "multipleOf"), _is_number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _is_limit),
    **dict.fromkeys(("pattern", "$ref"), _is_text),
    "items": lambda value: _is_schema(value) or _are_schemas(value),
    "type": lambda value: _is_text(value) or _are_names(value),
    "enum": _is_list,
    "required": _are_names,
    "uniqueItems": lambda value: isinstance(value, bool),
}
