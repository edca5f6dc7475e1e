"""Names the demand of a schema that arguments break."""

from collections.abc import Mapping
from typing import Any

from misstep.core.references import find_reference
from misstep.core.tool import Path
from misstep.schemas.breaches import alone, first_missing
from misstep.schemas.limits import LIMITS
from misstep.schemas.schema import fits
from misstep.schemas.shape import listed, mapping, resolve

DEEPEST = 30

# Limits that a tool's author has written down, so that whoever goes beyond them should be told.
_CLEAR = frozenset(
    {
        "enum",
        "const",
        "required",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
    }
)


def broken_demand(schema: Mapping[str, Any], value: Any) -> str:
    """The first demand that a value breaks and where, as in `minimum at amount`; empty if it fits."""
    if fits(schema, value) is None:
        return ""
    keyword, place = _find(schema, value, schema)
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
    return f"{keyword} at {where}" if where else keyword


def is_clear(broken: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether a broken demand is a limit that was written down, and not just another spelling of the same."""
    keyword, _, where = broken.partition(" at ")
    if keyword not in _CLEAR:
        return False
    return keyword not in {"enum", "const"} or not _is_other_spelling(where, schema, arguments)


def _is_other_spelling(name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether a choice was met but for case, blanks around it, or a number's being written as a text."""
    wanted = mapping(resolve(mapping(schema.get("properties")).get(name), schema))
    choices = [*listed(wanted.get("enum")), *([wanted["const"]] if "const" in wanted else [])]
    return _plain(arguments.get(name)) in {_plain(each) for each in choices}


def _plain(value: Any) -> str:
    text = str(value).strip().casefold()
    return text.removesuffix(".0").replace("-", "_").replace(" ", "_")


def _find(
    schema: Any, value: Any, root: Mapping[str, Any], place: Path = (), depth: int = 0
) -> tuple[str, Path]:
    """The first demand that is broken, as far in as it is plain which, and where."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "schema", place
    for keyword in schema:
        if fits(alone(keyword, schema), value, root) is None:
            continue
        if keyword == "required":
            return keyword, (*place, str(first_missing(schema[keyword], value)))
        inner = None if keyword in LIMITS else _inner(keyword, schema, value, root)
        if inner is None:
            return keyword, place
        part, held, way = inner
        return _find(part, held, root, (*place, *way), depth + 1)
    return "schema", place


def _inner(
    keyword: str, schema: Mapping[str, Any], value: Any, root: Mapping[str, Any]
) -> tuple[Any, Any, Path] | None:
    """The part that is broken further in: its schema, the value there, and the way to it."""
    wanted = schema[keyword]
    match keyword:
        case "$ref":
            return find_reference(wanted, root), value, ()
        case "properties":
            for name, each in wanted.items():
                if name in value and fits(each, value[name], root) is not None:
                    return each, value[name], (name,)
        case "items" if isinstance(wanted, Mapping):
            for number, each in enumerate(value):
                if fits(wanted, each, root) is not None:
                    return wanted, each, (number,)
        case "allOf":
            return next((each, value, ()) for each in wanted if fits(each, value, root) is not None)
        case "anyOf" | "oneOf":
            of_type = [each for each in wanted if _is_of_type(each, value, root)]
            return (of_type[0], value, ()) if len(of_type) == 1 else None
    return None


def _is_of_type(schema: Any, value: Any, root: Mapping[str, Any]) -> bool:
    """Whether an alternative asks for this type, so that the value breaks something else about it."""
    schema = resolve(schema, root)
    return isinstance(schema, Mapping) and fits({"type": schema.get("type", [])}, value) is None
