"""Files with tools in them, as users write them."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep.core.agent import Tool

Write = Callable[[str], str]

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
