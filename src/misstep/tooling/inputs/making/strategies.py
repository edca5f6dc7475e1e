"""Hypothesis strategies for a JSON schema: what fits, what fits just so, what breaks one demand."""

from collections.abc import Mapping
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from misstep.tooling.inputs.breaking import break_demand, demands_on
from misstep.tooling.inputs.drawn import Breach
from misstep.tooling.inputs.making.chance import Impossible
from misstep.tooling.inputs.making.maker import Maker


def valid(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Values that fit the schema, such as anybody might give. `root` is what its references start from."""
    return _made(schema, _root(schema, root), False)


def boundary(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Values that fit the schema but lie at an edge: of its limits, or of what programs are ready for."""
    return _made(schema, _root(schema, root), True)


def invalid(schema: Any, root: Mapping[str, Any] | None = None) -> st.SearchStrategy[Breach]:
    """Values that break one demand of the schema and are fine otherwise."""
    return _broken(schema, _root(schema, root))


def _root(schema: Any, root: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if root is not None:
        return root
    return schema if isinstance(schema, Mapping) else {}


# Strategies that take schemas as arguments would be described with them, at length, whenever a draw fails.


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
