"""Finds every parameter in a tool's schema, nested ones as well."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from misstep.core.references import find_reference

DEEPEST = 6  # objects within objects
MOST = 500  # parameters of one tool

_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


class Part(msgspec.Struct, frozen=True):
    """A parameter: its path, its own schema with what it refers to, and whether it has to be given.

    `variants` are the schemas one of which its values follow; the schema itself where it names none.
    """

    path: tuple[str, ...]
    schema: Mapping[str, Any]
    required: bool
    variants: tuple[Mapping[str, Any], ...]

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def where(self) -> str:
        return ".".join(("parameters", *self.path))

    @property
    def description(self) -> str:
        """All that is said about it, by itself or with one of its variants."""
        said = [self.schema.get("description"), *(each.get("description") for each in self.variants)]
        return "\n".join(dict.fromkeys(text for text in said if isinstance(text, str) and text.strip()))

    @property
    def types(self) -> frozenset[str]:
        """The types of JSON that it may have; empty where nothing is said."""
        found = set[str]()
        for each in self.variants:
            kind = each.get("type")
            found |= {kind} if isinstance(kind, str) else set(filter(_is_text, _listed(kind)))
        return frozenset(found)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that it may have, if every variant but null lists them; else none."""
        lists = [_choices(each) for each in self.variants if each.get("type") != "null"]
        return tuple(value for each in lists for value in each) if lists and all(lists) else ()

    @property
    def may_be_null(self) -> bool:
        return "null" in self.types or self.schema.get("nullable") is True or None in self.choices


def parts_of(parameters: Mapping[str, Any]) -> list[Part]:
    """The parameters of a tool, each before those within it."""
    found = list[Part]()
    for part in _parts(parameters, parameters, ()):
        found.append(part)
        if len(found) == MOST:
            break
    return found


def _parts(schema: Mapping[str, Any], root: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Part]:
    properties = schema.get("properties")
    required = [name for name in _listed(schema.get("required")) if _is_text(name)]
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if not _is_text(name):
            continue
        own = _followed(inner, root)
        variants = tuple(_variants(own, root))
        yield Part((*path, name), own, name in required, variants)
        if len(path) + 1 < DEEPEST:
            for each in variants:
                yield from _parts(_followed(each.get("items", each), root), root, (*path, name))


def _followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with what it refers to; what it says itself goes first."""
    found = schema if isinstance(schema, Mapping) else {}
    for _ in range(DEEPEST):
        target = find_reference(found.get("$ref"), root)
        if not isinstance(target, Mapping):
            break
        found = {**target, **{key: value for key, value in found.items() if key != "$ref"}}
    return found


def _variants(
    schema: Mapping[str, Any], root: Mapping[str, Any], deep: int = 0
) -> Iterator[Mapping[str, Any]]:
    named = [each for key in _ALTERNATIVES for each in _listed(schema.get(key))] if deep < DEEPEST else []
    if not named:
        yield schema
    for each in named:
        yield from _variants(_followed(each, root), root, deep + 1)


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else _listed(schema.get("enum"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_text(value: object) -> bool:
    return isinstance(value, str)
