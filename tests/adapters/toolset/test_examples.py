"""Examples that authors give: in the schema, in the description, in the docstring."""

from typing import Any

import pytest

from misstep.adapters.toolset.found import examples_of
from misstep.core.agent import Tool


def tool(description: str = "", **schema: Any) -> Tool:
    properties: dict[str, Any] = {"a": {}, "b": {}}
    return Tool("look", description, {"type": "object", "properties": properties, **schema})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> look(1)", ('{"a": 1}',)),
        ("for example look('x)', b=[1, (2)]) or look(a=None)", ('{"a": "x)", "b": [1, 2]}', '{"a": null}')),
        ("look(\n    1,\n    2,\n)", ('{"a": 1, "b": 2}',)),
        ("look() at it", ()),
        ("look(1, 2, 3)", ()),
        ("look(somewhere)", ()),
        ("overlook(1), me.look(1)", ()),
        ("look(1 + ", ()),
        ("look({1, 2})", ()),
        ("look(1) look(1)", ('{"a": 1}',)),
        ("look('\ud800')", ()),
        (r"look('\d')", ('{"a": "\\\\d"}',)),
    ],
)
def test_calls_in_a_text(text: str, expected: tuple[str, ...]) -> None:
    assert examples_of(tool(text), None) == expected


def test_docstrings_and_schemas() -> None:
    def look_up(a: int) -> None:
        """Look.

        >>> look_up(5)
        """

    given = tool(examples=[{"a": 1}, 5, {"a": {1}}])
    assert examples_of(given, look_up) == ('{"a": 1}', '{"a": 5}')
    assert examples_of(tool(examples=5), None) == ()


def test_there_is_an_end() -> None:
    assert len(examples_of(tool(" ".join(f"look({number})" for number in range(100))), None)) == 20
    assert examples_of(tool("look(" * 2_000 + ")" * 2_000), None) == ()
