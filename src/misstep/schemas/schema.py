"""Whether a JSON value fits a JSON schema, as far as the schemas of real tools go."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from misstep.core.references import find_reference
from misstep.schemas.limits import LIMITS, Misfit
from misstep.schemas.patterns import matches

DEEPEST = 50  # references within references; only a schema that leads back to itself has more
MOST_LOOKS = 100_000  # at parts of a value; only one that is made to take long needs more

TOO_DEEP = Misfit("is nested too deeply")
TOO_MUCH = Misfit("is too much to look through")


def fits(schema: Mapping[str, Any], value: object, root: Mapping[str, Any] | None = None) -> str | None:
    """None if the JSON value fits; else what is wrong, where: `days must be an integer`, `city is missing`.

    The subset of JSON Schema 2020-12 that tools use, and `nullable`. Formats, unknown keywords, those that
    make no sense and references that lead nowhere demand nothing. `root` is what references start from, if
    that is not the schema itself.
    """
    try:
        misfit = _Look(schema if root is None else root).misfit(schema, value)
    except RecursionError:
        misfit = TOO_DEEP
    return None if misfit is None else misfit.text


class _Look:
    """One look at a value, which follows references from the root and does not go on for ever."""

    __slots__ = ("_deep", "_left", "_root")

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MOST_LOOKS
        self._deep = 0

    def misfit(self, schema: Any, value: Any) -> Misfit | None:
        if type(schema) is not dict and not isinstance(schema, Mapping):
            return Misfit("is not allowed") if schema is False else None
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

    def follow(self, reference: Any, value: Any) -> Misfit | None:
        if self._deep >= DEEPEST:
            return TOO_DEEP
        self._deep += 1
        found = self.misfit(find_reference(reference, self._root), value)
        self._deep -= 1
        return found


# The look, what is wanted, the schema that wants it, and the value that it is wanted of.
_Check: TypeAlias = Callable[[_Look, Any, Mapping[str, Any], Any], Misfit | None]


def _reference(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    return look.follow(wanted, value)


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
    known, patterns = _names(schema, "properties"), _names(schema, "patternProperties")
    for name, each in value.items():
        # One that is too long for a pattern gets the benefit of the doubt.
        if name in known or any(matches(pattern, name) is not False for pattern in patterns):
            continue
        if wanted is False:
            return Misfit("", unexpected=name)
        if (found := look.misfit(wanted, each)) is not None:
            return found.within(name)
    return None


def _names(schema: Mapping[str, Any], keyword: str) -> list[str]:
    named = schema.get(keyword)
    return [name for name in named if isinstance(name, str)] if isinstance(named, Mapping) else []


def _items(look: _Look, wanted: Any, schema: Mapping[str, Any], value: Any) -> Misfit | None:
    if isinstance(wanted, list):  # how tuples were written once
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
        return Misfit("must fit only one of the forms allowed")
    return None if fitting else _any_of(look, wanted, schema, value)


def _all_of(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    misfits = (look.misfit(each, value) for each in (wanted if isinstance(wanted, list) else ()))
    return next((found for found in misfits if found is not None), None)


def _not(look: _Look, wanted: Any, _schema: Mapping[str, Any], value: Any) -> Misfit | None:
    return Misfit("has a form that is not allowed") if look.misfit(wanted, value) is None else None


def _together(misfits: list[Misfit]) -> Misfit:
    """What to say of a value that fits no alternative: how the closest one is missed, or what all ask for."""
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
