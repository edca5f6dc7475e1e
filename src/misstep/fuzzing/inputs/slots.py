"""The places in a tool's arguments that values are put in (`Slot`), and complete arguments (`Drawn`)."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from misstep.core.tool import Path
from misstep.schemas.shape import as_list, flatten, mapping

DEEPEST = 4  # steps to a place within arguments
MOST = 24  # places within one parameter
LONGEST_TOLD = 2000  # characters of a description


class ArgumentSlot(msgspec.Struct, frozen=True):
    """A place in the arguments; a list's first item stands for all. `name` is the last key on its path."""

    path: Path
    schema: Any
    name: str = ""
    description: str = ""


def slot_at(path: Path, schema: Any, root: Mapping[str, Any], told: str = "") -> ArgumentSlot:
    """The slot at a path; if the schema does not describe it, one that accepts anything.

    `told` describes the arguments as a whole, and with that those without a description of their own.
    """
    slot = ArgumentSlot((), schema, description=told[:LONGEST_TOLD])
    for step in path:
        slot = next(
            (each for each in _inner(slot, root) if each.path[-1] == (0 if isinstance(step, int) else step)),
            ArgumentSlot((*slot.path, step), True, step if isinstance(step, str) else slot.name),
        )
    return slot


def slots_within(slot: ArgumentSlot, root: Mapping[str, Any]) -> list[ArgumentSlot]:
    """The slots inside this one, nearest first."""
    found, ahead = list[ArgumentSlot](), [slot]
    while ahead and len(found) < MOST:
        inner = list(_inner(ahead.pop(0), root))
        found += inner
        ahead += [each for each in inner if len(each.path) < DEEPEST]
    return found[:MOST]


def _inner(slot: ArgumentSlot, root: Mapping[str, Any]) -> Iterator[ArgumentSlot]:
    flat = flatten(slot.schema, root) or {}
    forms = [flatten(each, root) for each in (*as_list(flat.get("anyOf")), *as_list(flat.get("oneOf")))]
    parts = dict[str | int, Any]()
    for form in (flat, *forms):
        parts |= {key: schema for key, schema in _parts(form or {}) if key not in parts}
    for key, schema in parts.items():
        name = key if isinstance(key, str) else slot.name
        told = (flatten(schema, root) or {}).get("description")
        told = told[:LONGEST_TOLD] if isinstance(told, str) else ""
        yield ArgumentSlot((*slot.path, key), schema, name, told or slot.description)


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str | int, Any]]:
    yield from mapping(schema.get("properties")).items()
    items = schema.get("items")
    first = items if isinstance(items, list) else as_list(schema.get("prefixItems"))
    yield from enumerate(first)
    if not first and isinstance(items, Mapping):
        yield 0, items


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy of the value with `new` at this path; missing containers are created."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        held = value if isinstance(value, dict) else {}
        return {**held, step: put(held.get(step), rest, new)}
    items = list(value) if isinstance(value, list) else []
    step = min(step, len(items))
    items[step : step + 1] = [put(items[step] if step < len(items) else None, rest, new)]
    return items


Kind: TypeAlias = Literal["valid", "boundary", "invalid"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Origin: TypeAlias = Literal[
    "schema",  # its constraints
    "semantic",  # the names and descriptions of parameters
    "harvested",  # the tool's source, documentation and examples
    "learnt",  # earlier calls
]


class PoolEntry(msgspec.Struct, frozen=True):
    """A value. If it is invalid, `broken` is the keyword that it violates, and `at` the path in it."""

    value: Any
    origin: Origin = "schema"
    broken: str = ""
    at: Path = ()


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """Arguments for a call. Nested values are shared between draws and must not be modified.

    `origin` is the source of the value that this draw is about. If the arguments are invalid, `broken` is the
    keyword that they violate, and `at` the path where they do.
    """

    arguments: dict[str, Any]
    kind: Kind
    origin: Origin
    broken: str = ""
    at: Path = ()
