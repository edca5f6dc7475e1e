"""Hypothesis strategies for a JSON schema (valid, boundary, invalid), with reproducible draws."""

from collections.abc import Mapping
from hashlib import shake_128
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from hypothesis import HealthCheck, Verbosity, given, reject, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.strategies import SearchStrategy

from misstep.fuzzing.inputs.breaking import break_demand, demands_on
from misstep.fuzzing.inputs.maker import Maker
from misstep.fuzzing.inputs.scalars import Impossible
from misstep.fuzzing.inputs.slots import Breach

T = TypeVar("T")

BYTES = 6000  # of randomness per value
TRIES = 3  # for every value wanted

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


def valid(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Ordinary values that fit the schema. `root` is where its references are resolved."""
    return _made(schema, _root(schema, root), False)


def boundary(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Values that fit the schema but lie at a boundary: of its limits, or of what programs handle well."""
    return _made(schema, _root(schema, root), True)


def invalid(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Breach]:
    """Values that violate exactly one constraint of the schema."""
    return _broken(schema, _root(schema, root))


def _root(schema: Any, root: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if root is not None:
        return root
    return schema if isinstance(schema, Mapping) else {}


# Strategies with schemas as arguments would print them at length whenever a draw fails.


def _made(schema: Any, root: Mapping[str, Any], edgy: bool) -> st.SearchStrategy[Any]:
    @st.composite
    def values(draw: st.DrawFn) -> Any:
        try:
            return Maker(draw, root).make(schema, edgy)
        except (Impossible, RecursionError):
            return reject()

    return values()


def _broken(schema: Any, root: Mapping[str, Any]) -> st.SearchStrategy[Breach]:
    fitting = _made(schema, root, False)

    @st.composite
    def breaches(draw: st.DrawFn) -> Breach:
        value = draw(fitting)
        demands = demands_on(schema, value, root)
        first = draw(st.integers(0, max(0, len(demands) - 1)))
        tried = (break_demand(each, schema, value, root) for each in (*demands[first:], *demands[:first]))
        ways = next((found for found in tried if found), None) or reject()
        return ways[draw(st.integers(0, len(ways) - 1))]

    return breaches()
