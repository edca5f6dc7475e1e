"""Files with tools in them, as users write them."""

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.bound import bind
from misstep.adapters.toolset.calling import Toolset
from misstep.core.agent import Tool

Write = Callable[[str], str]
Binding = Callable[[str], Toolset]

WEATHER = '''
    from typing import Literal

    def weather(city: str, days: int = 3, unit: Literal["c", "f"] = "c") -> str:
        """Tell the weather.

        Args:
            city: The city to look at.
            days: How many days.
            unit: Celsius or Fahrenheit.
        """
        raise AssertionError("a tool was called")
'''
PLAIN = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "unit": {"type": "string", "enum": ["c", "f"]},
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of the user's, and gives its path."""

    def write(code: str) -> str:
        path = tmp_path / "mine.py"
        path.write_text("\n".join(textwrap.dedent(part) for part in code.split("#\n")))
        return str(path)

    return write


@pytest.fixture
def binding() -> Iterator[Binding]:
    """Binds tools, and closes them when the test is over."""
    opened = list[Toolset]()

    def binding(spec: str) -> Toolset:
        opened.append(bind(spec))
        return opened[-1]

    yield binding
    for each in opened:
        each.close()


def bare(schema: Any) -> Any:
    """A schema without what is only said to readers."""
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    spoken = ("title", "description", "default")
    return {key: bare(each) for key, each in schema.items() if key not in spoken or isinstance(each, dict)}


def only(tools: list[Tool]) -> Tool:
    (tool,) = tools
    return tool
