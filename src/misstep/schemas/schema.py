"""Validates JSON values against the schemas of real tools, and finds the keyword that a value violates."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from misstep.core.tool import Path
from misstep.schemas.formats import has_format, matches
from misstep.schemas.limits import LIMITS, Misfit
from misstep.schemas.shape import as_list, find_reference, mapping, names_in

DEEPEST = 50  # nested references; only a schema that refers to itself has more
MOST_LOOKS = 100_000  # parts of a value checked; only a hostile schema needs more


class Unknown(str):
    """Stands for a value that is not known yet: it fits every schema."""


TOO_DEEP = Misfit("is nested too deeply")
TOO_MUCH = Misfit("is too complex")


def fits(schema: Mapping[str, Any], value: object, root: Mapping[str, Any] | None = None) -> str | None:
    """None if the JSON value fits; else what is wrong: `days must be an integer`, `city is missing`.

    Supports the subset of JSON Schema 2020-12 that tools use, and `nullable`. Formats, unknown or invalid
    keywords and references that can't be resolved are ignored. `root` is the document that references are
    resolved in, if that is not the schema itself.
    """
    try:
        misfit = _Look(schema if root is None else root).misfit(schema, value)
    except RecursionError:
        misfit = TOO_DEEP
    return None if misfit is None else misfit.text


class _Look:
    """One validation, which resolves references from the root and limits its own effort."""

    __slots__ = ("_left", "deep", "root")

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._left = MOST_LOOKS
        self.deep = 0

    def misfit(self, schema: Any, value: Any) -> Misfit | None:
        if type(schema) is not dict and not isinstance(schema, Mapping):
            return Misfit("is not allowed") if schema is False else None
        if type(value) is Unknown:
            return None
        self._left -= 1
        if self._left < 0:
            return TOO_MUCH
        if value is None and schema.get("nullable") is True:
            return None
        for keyword, wanted in schema.items():
            found = None
            if limit := LIMITS.get(keyword):
                found = limit(wanted, value)
            elif inner := _INNER.get(keyword):
                found = inner(self, wanted, schema, value)
            if found is not None:
                return found
        return None


# Takes the validation, the keyword's value, its schema, and the value to check.
_Check: TypeAlias = Callable[[_Look, Any, Mapping[str, Any], Any], Misfit | None]


def _reference(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if look.deep >= DEEPEST:
        return TOO_DEEP
    look.deep += 1
    found = look.misfit(find_reference(wanted, look.root), value)
    look.deep -= 1
    return found


def _properties(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if not isinstance(value, dict) or not isinstance(wanted, Mapping):
        return None
    for name, schema in wanted.items():
        if name in value and (found := look.misfit(schema, value[name])) is not None:
            return found.within(name)
    return None


def _pattern_properties(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if not isinstance(value, dict) or not isinstance(wanted, Mapping):
        return None
    for pattern, schema in wanted.items():
        for name, each in value.items() if isinstance(pattern, str) else ():
            if matches(pattern, name) and (found := look.misfit(schema, each)) is not None:
                return found.within(name)
    return None


def _additional_properties(look: _Look, wanted: Any, schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if not isinstance(value, dict) or wanted is True:
        return None
    known, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
    for name, each in value.items():
        # A name too long to be matched counts as matching.
        if name in known or any(matches(pattern, name) is not False for pattern in patterns):
            continue
        if wanted is False:
            return Misfit("", unexpected=name)
        if (found := look.misfit(wanted, each)) is not None:
            return found.within(name)
    return None


def _items(look: _Look, wanted: Any, schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if isinstance(wanted, list):  # the old syntax for tuples
        return _prefix_items(look, wanted, schema, value)
    before = schema.get("prefixItems")
    first = len(before) if isinstance(before, list) else 0
    for place, each in enumerate(value[first:] if isinstance(value, list) else (), first):
        if (found := look.misfit(wanted, each)) is not None:
            return found.within(place)
    return None


def _prefix_items(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if isinstance(value, list) and isinstance(wanted, list):
        for place, (schema, each) in enumerate(zip(wanted, value, strict=False)):
            if (found := look.misfit(schema, each)) is not None:
                return found.within(place)
    return None


def _any_of(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    misfits = list[Misfit]()
    for schema in wanted if isinstance(wanted, list) else ():
        found = look.misfit(schema, value)
        if found is None:
            return None
        misfits.append(found)
    return _together(misfits) if misfits else None


def _one_of(look: _Look, wanted: Any, schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if not isinstance(wanted, list):
        return None
    fitting = sum(look.misfit(each, value) is None for each in wanted)
    if fitting > 1:
        return Misfit("must match only one of the allowed forms")
    return None if fitting else _any_of(look, wanted, schema, value)


def _all_of(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    misfits = (look.misfit(each, value) for each in (wanted if isinstance(wanted, list) else ()))
    return next((found for found in misfits if found is not None), None)


def _not(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    return Misfit("has a form that is not allowed") if look.misfit(wanted, value) is None else None


def _together(misfits: list[Misfit]) -> Misfit:
    """The message for a value that fits no alternative: how the closest one fails, or what all require."""
    closest = max(misfits, key=lambda found: (len(found.place), found.unexpected is not None))
    demand = "must be "
    if not closest.place and all(found.says.startswith(demand) for found in misfits):
        choices = dict.fromkeys(found.says.removeprefix(demand) for found in misfits)
        return Misfit(demand + " or ".join(choices))
    return closest


_INNER: dict[str, _Check] = {
    "$ref": _reference,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "items": _items,
    "prefixItems": _prefix_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "not": _not,
}


DEEPEST_PLACE = 8  # nesting that is examined
MOST_NAMES = 40  # properties that the schema does not name
MOST_ITEMS = 3  # items of a list with one schema for all

# Keywords that are violated by a value itself, not by its parts.
BREAKABLE = frozenset((
    "type", "enum", "const", "required", "additionalProperties", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "pattern", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "anyOf", "oneOf", "not",
))  # fmt: skip


def find_breach(schema: Any, value: Any, root: Mapping[str, Any]) -> tuple[str, Path] | None:
    """The keyword that a value violates, and where; None if it fits. Formats count."""
    misfit = fits(schema, value, root) is not None
    for node, part, place in places_in(schema, value, root):
        if not misfit and isinstance(part, str) and not has_format(node.get("format"), part):
            return "format", place
        for keyword in node if misfit else ():
            if keyword in BREAKABLE and (at := _where(keyword, node, part, root)) is not None:
                return keyword, (*place, *at)
    return ("schema", ()) if misfit else None


def alone(keyword: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema reduced to one keyword and those that change its meaning."""
    kept = {keyword: schema[keyword]}
    if keyword == "additionalProperties":
        named = ("properties", "patternProperties")
        kept |= {name: dict.fromkeys(mapping(schema[name]), True) for name in named if name in schema}
    if keyword == "items" and "prefixItems" in schema:
        kept["prefixItems"] = [True for _ in as_list(schema["prefixItems"])]
    if schema.get("nullable") is True:
        kept["nullable"] = True
    return kept


def first_missing(wanted: Any, value: Mapping[str, Any]) -> str | None:
    return next((name for name in names_in(wanted) if name not in value), None)


def places_in(
    schema: Any, value: Any, root: Mapping[str, Any], place: Path = (), deep: int = 0
) -> Iterator[tuple[Mapping[str, Any], Any, Path]]:
    """Every part of the value with each of the schemas that apply to it."""
    if not isinstance(schema, Mapping) or deep > DEEPEST_PLACE:
        return
    if value is None and schema.get("nullable") is True:
        return
    yield schema, value, place
    if "$ref" in schema:
        yield from places_in(find_reference(schema["$ref"], root), value, root, place, deep + 1)
    for part in as_list(schema.get("allOf")):
        yield from places_in(part, value, root, place, deep + 1)
    for part in (*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))):
        if fits(part, value, root) is None:
            yield from places_in(part, value, root, place, deep + 1)
    for key, inner in _members(schema, value):
        yield from places_in(inner, value[key], root, (*place, key), deep + 1)


def _members(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """The keys of the parts of a value, with their schemas."""
    if isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        yield from ((name, inner) for name, inner in properties.items() if name in value)
        if isinstance(rest := schema.get("additionalProperties"), Mapping):
            yield from ((name, rest) for name in [*value][:MOST_NAMES] if name not in properties)
    if isinstance(value, list):
        rest = schema.get("items")
        first = rest if isinstance(rest, list) else as_list(schema.get("prefixItems"))
        yield from enumerate(first[: len(value)])
        if isinstance(rest, Mapping):
            last = min(len(value), len(first) + MOST_ITEMS)
            yield from ((number, rest) for number in range(len(first), last))


def _where(keyword: str, node: Mapping[str, Any], part: Any, root: Mapping[str, Any]) -> Path | None:
    """Where within a part the keyword is violated, if it is."""
    demand = alone(keyword, node)
    if keyword == "required" and isinstance(part, dict):
        missing = first_missing(node[keyword], part)
        return None if missing is None else (missing,)
    if keyword == "additionalProperties":
        given = part if isinstance(part, dict) else {}
        return next(((name,) for name in given if fits(demand, {name: given[name]}, root) is not None), None)
    return () if fits(demand, part, root) is not None else None
