"""Resolves references and `allOf` in JSON schemas, and reads single keywords tolerantly."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from misstep.schemas.formats import same
from misstep.schemas.limits import is_number

_INDEX = re.compile(r"\d{1,9}")  # no list is longer


def find_reference(reference: object, root: Any) -> Any:
    """The target of a local reference such as `#/$defs/City`, or None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    anchor, *steps = unquote(reference[1:]).split("/")
    if anchor:
        return None
    found: Any = root
    for step in steps:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and _INDEX.fullmatch(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


DEEPEST = 12  # nested references and joins; more of them are cycles
LARGEST = 10**9  # larger counts are ignored
KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")

_HIGHEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SIGNS = (
    ("object", ("properties", "required", "additionalProperties", "minProperties", "maxProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


def resolve(schema: Any, root: Mapping[str, Any]) -> Any:
    """Follow a reference, if the schema is one; other keywords beside it are ignored."""
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            break
        schema = find_reference(schema["$ref"], root)
    return schema


def flatten(schema: Any, root: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema with references and `allOf` resolved; None if it allows nothing."""
    return _flattened(schema, root, 0, set())


def _flattened(schema: Any, root: Mapping[str, Any], deep: int, known: set[str]) -> dict[str, Any] | None:
    """The same below other schemas; references in `known` are merged already and add nothing."""
    if schema is False:
        return None
    flat = dict(schema) if isinstance(schema, Mapping) else {}
    while isinstance(reference := flat.pop("$ref", None), str) and reference not in known:
        known.add(reference)
        target = find_reference(reference, root)
        if target is False:
            return None
        flat = merge(mapping(target), flat)
    for part in as_list(flat.pop("allOf", None)):
        piece = _flattened(part, root, deep + 1, known) if deep < DEEPEST else {}
        if piece is None:
            return None
        flat = merge(flat, piece)
    return flat


def merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A schema that requires both, as far as one can; if they conflict the second wins."""
    both = {**one, **other}
    for key in one.keys() & other.keys():
        both[key] = _joined(key, one[key], other[key])
    return both


def _joined(key: str, one: Any, other: Any) -> Any:
    if key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
        return {
            name: {"allOf": [one[name], other[name]]} if name in one and name in other else each
            for name, each in {**one, **other}.items()
        }
    if key == "required":
        return [*as_list(one), *as_list(other)]
    if key in _HIGHEST and is_number(one) and is_number(other):
        return max(one, other)
    if key in _LOWEST and is_number(one) and is_number(other):
        return min(one, other)
    if key == "enum" and isinstance(one, list) and isinstance(other, list):
        return [each for each in one if any(same(each, wanted) for wanted in other)]
    if key == "type":
        return _common_types(one, other)
    if key in ("items", "additionalProperties") and isinstance(one, Mapping) and isinstance(other, Mapping):
        return {"allOf": [one, other]}
    if key in ("items", "additionalProperties") and one is False:
        return False
    return other


def _common_types(one: Any, other: Any) -> Any:
    ones, others = (each if isinstance(each, list) else [each] for each in (one, other))
    common = [kind for kind in ones if kind in others or (kind == "integer" and "number" in others)]
    common += [kind for kind in others if kind == "integer" and "number" in ones and kind not in common]
    return common[0] if len(common) == 1 else common or other


def kinds_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The required types, or those that other keywords suggest; all types if nothing does."""
    wanted = schema.get("type")
    named = tuple(kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if kind in KINDS)
    if named:
        return named
    return next(((kind,) for kind, signs in _SIGNS if any(sign in schema for sign in signs)), KINDS)


def count(schema: Mapping[str, Any], key: str, default: int) -> int:
    """A count given by a keyword, such as `minItems`."""
    found: Any = schema.get(key)
    if not is_number(found) or not abs(found) < LARGEST:
        return default
    return max(0, int(found) + (key.startswith("min") and found != int(found)))


def mapping(value: object) -> dict[str, Any]:
    items = value.items() if isinstance(value, Mapping) else ()
    return {key: each for key, each in items if isinstance(key, str)}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def names_in(value: object) -> list[str]:
    """The names in a list, each once."""
    return list(dict.fromkeys(name for name in as_list(value) if isinstance(name, str)))
