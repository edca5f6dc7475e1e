"""Hypothesis strategies for a JSON schema (valid, boundary, invalid), with reproducible draws."""

from collections.abc import Iterator, Mapping
from hashlib import shake_128
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias, TypeVar

from hypothesis import HealthCheck, Verbosity, given, reject, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.strategies import SearchStrategy

from misstep.core.tool import Path as ArgumentPath
from misstep.fuzzing.inputs.edges import BY_KIND, TEXTS, beyond
from misstep.fuzzing.inputs.maker import Maker
from misstep.fuzzing.inputs.scalars import Impossible
from misstep.fuzzing.inputs.slots import PoolEntry, put
from misstep.schemas.limits import is_number
from misstep.schemas.schema import BREAKABLE, fits, places_in
from misstep.schemas.shape import as_list, count, mapping, names_in

T = TypeVar("T")

BYTES = 6000  # of randomness per value
TRIES = 3  # for every value wanted
MOST_PLACES = 40
LONGEST = 100_000  # characters or items to exceed a maximum with
UNKNOWN = ("unknown", "UNKNOWN", "other", "x", " ", "")

# A keyword, its schema, the part of a value that it applies to, and the path of that part.
_Demand: TypeAlias = tuple[str, Mapping[str, Any], Any, ArgumentPath]

# Hypothesis caches character tables in a directory if it can create one; below a file it cannot.
NOWHERE = Path(__file__) / "nowhere"

# Hypothesis shares the directory and the random state it replaces between threads.
_TURN = RLock()


def draw_values(strategy: SearchStrategy[T], seed: int, count: int) -> list[T]:
    """Up to `count` values, determined by strategy and seed alone; fewer if few are found.

    They are generated from our own bytes, as for an external fuzzer: otherwise Hypothesis would use constants
    from whatever modules are loaded.
    """
    found = list[T]()

    @settings(
        database=None, deadline=None, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def keep(value: T) -> None:
        found.append(value)

    with _TURN:
        set_hypothesis_home_dir(NOWHERE)
        try:
            target = keep.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
            for attempt in range(count * TRIES):
                if len(found) >= count or (attempt >= 2 * TRIES and not found):
                    break
                target(shake_128(f"{seed}:{attempt}".encode()).digest(BYTES))
        finally:
            set_hypothesis_home_dir(None)
    return found[:count]


# Strategies with schemas as arguments would print them at length whenever a draw fails.


def valid(schema: Any, root: Mapping[str, Any], edgy: bool = False) -> SearchStrategy[Any]:
    """Values that fit the schema. `root` is where its references are resolved.

    Edgy ones lie at a boundary: of the schema's limits, or of what programs handle well.
    """

    @st.composite
    def values(draw: st.DrawFn) -> Any:
        try:
            return Maker(draw, root).make(schema, edgy)
        except (Impossible, RecursionError):
            return reject()

    return values()


def invalid(schema: Any, root: Mapping[str, Any]) -> SearchStrategy[PoolEntry]:
    """Values that violate exactly one constraint of the schema."""
    fitting = valid(schema, root)

    @st.composite
    def breaches(draw: st.DrawFn) -> PoolEntry:
        value = draw(fitting)
        demands = [
            (keyword, node, part, place)
            for node, part, place in islice(places_in(schema, value, root), MOST_PLACES)
            for keyword in node
            if keyword in BREAKABLE
        ]
        first = draw(st.integers(0, max(0, len(demands) - 1)))
        tried = (_break_demand(schema, value, root, each) for each in (*demands[first:], *demands[:first]))
        ways = next((found for found in tried if found), None) or reject()
        return ways[draw(st.integers(0, len(ways) - 1))]

    return breaches()


def _break_demand(schema: Any, value: Any, root: Mapping[str, Any], demand: _Demand) -> list[PoolEntry]:
    """Values that violate this constraint and no other. Each is the whole value."""
    keyword, node, part, place = demand
    rest = {key: wanted for key, wanted in node.items() if key != keyword}
    found = list[PoolEntry]()
    for broken, at in _ways(keyword, node, part):
        if fits(node, broken, root) is not None and fits(rest, broken, root) is None:
            whole = put(value, place, broken)
            if fits(schema, whole, root) is not None:
                found.append(PoolEntry(whole, broken=keyword, at=(*place, *at)))
    return found


def _ways(keyword: str, node: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, ArgumentPath]]:
    """Replacement values that may violate the constraint, and where in them."""
    wanted = node[keyword]
    if keyword == "required" and isinstance(value, dict):
        for name in names_in(wanted):
            yield {key: each for key, each in value.items() if key != name}, (name,)
    elif keyword == "additionalProperties" and isinstance(value, dict) and wanted is False:
        for name in _strangers(node):
            yield {**value, name: 1}, (name,)
    else:
        for broken in _others(keyword, wanted, node, value):
            yield broken, ()


def _strangers(node: Mapping[str, Any]) -> list[str]:
    known = mapping(node.get("properties"))
    near = [name for each in [*known][:2] for name in (each.upper(), f"{each}s", f" {each}")]
    return [name for name in ("unexpected", *near, "") if name not in known]


def _others(keyword: str, wanted: Any, node: Mapping[str, Any], value: Any) -> list[Any]:
    match keyword:
        case "type" | "anyOf" | "oneOf" | "not":
            return [each for some in BY_KIND.values() for each in some]
        case "enum":
            return _unlike(as_list(wanted))
        case "const":
            return _unlike([wanted])
        case "minimum" | "exclusiveMinimum" if is_number(wanted) and abs(wanted) < 10**300:
            return beyond(wanted, up=False, whole=isinstance(value, int))
        case "maximum" | "exclusiveMaximum" if is_number(wanted) and abs(wanted) < 10**300:
            return beyond(wanted, up=True, whole=isinstance(value, int))
        case "multipleOf" if is_number(value) and is_number(wanted):
            return [value + 1, value + 0.5, value + wanted / 2] if abs(value) < 10**15 else []
        case "pattern" if isinstance(value, str):
            return [value + "!", value[:-1], value[::-1], f" {value}", value.swapcase(), *TEXTS]
        case "minLength" | "maxLength" if isinstance(value, str):
            return _resized(value, keyword, node, "a")
        case "minItems" | "maxItems" if isinstance(value, list):
            return _resized(value, keyword, node, [None])
        case "uniqueItems" if isinstance(value, list) and value:
            return [[*value, value[0]], [value[0], *value[:-1]]]
        case "minProperties" if isinstance(value, dict):
            required = names_in(node.get("required"))
            return [{}, {name: each for name, each in value.items() if name in required}]
        case "maxProperties" if isinstance(value, dict):
            most = count(node, keyword, LONGEST)
            return [{**value, **{f"key{number}": 1 for number in range(most + 1)}}] if most < 1000 else []
    return []


def _resized(value: Any, keyword: str, node: Mapping[str, Any], filling: Any) -> list[Any]:
    """The text or list, too short or too long."""
    limit = count(node, keyword, LONGEST)
    if keyword.startswith("min"):
        return [value[: max(0, limit - 1)], value[:0], value[:1]]
    if limit >= LONGEST:
        return []
    filling = value or filling
    more = filling * (limit // len(filling) + 2)
    much = [more[: limit * 2 + 10]] if limit < 1000 else []
    return [value + more[: limit + 1 - len(value)], more[: limit + 1], *much]


def _unlike(known: list[Any]) -> list[Any]:
    """Values that differ slightly from the known ones."""
    near = list[Any]()
    for each in known[:5]:
        if isinstance(each, str):
            near += [each.swapcase(), f"{each} ", f"{each}s", each[:-1]]
        elif is_number(each):
            near += [each + 1, each - 1, -each, each + 1000]
    if any(isinstance(each, str) for each in known):
        near += UNKNOWN
    return near or [each for some in BY_KIND.values() for each in some]
