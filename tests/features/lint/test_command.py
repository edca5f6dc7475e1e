"""`misstep tool lint` as it is typed."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command

CODE = '''
def weather(city: str, unit: str) -> str:
    """Tell the weather.

    Args:
        city: The city to look at.
        unit: What to measure in.
    """
    if unit not in ("celsius", "kelvin"):
        raise ValueError("that unit is not supported")
    return f"{city}: 20 {unit}"


def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello {name}"


tools = [weather, greet]
'''
SHORT = ("--calls-per-tool", "30")
SHOWN = """
weather
  underspecified  parameters.unit
    accepts only certain values, but "celsius", "kelvin" are not documented
    the code accepts "celsius", "kelvin"
    → list them as an enum (a Literal in Python)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def test_remarks_are_shown(folder: Path, misstep: Command) -> None:
    printed = misstep("tool", "lint", "mine.py:tools", *SHORT)
    assert printed.code == 1
    assert printed.out.startswith(SHOWN)
    closing = "2 tools, 1 remark, 1 without\n\nFuzz them: misstep tool fuzz mine.py:tools\n"
    assert printed.out.endswith(closing)
    assert not list(folder.glob("*.db"))


def test_remarks_as_json(folder: Path, misstep: Command) -> None:
    printed = misstep("tool", "lint", "mine.py:tools", *SHORT, "--json", "--fail-on", "threshold:0.5")
    assert printed.code == 0
    weather, greet = json.loads(printed.out)["tools"]
    assert (greet["name"], greet["remarks"]) == ("greet", [])
    (remark,) = weather["remarks"]
    assert (remark["rule"], remark["class"], remark["where"]) == ("choices", "under", "parameters.unit")
    assert remark["evidence"] == 'the code accepts "celsius", "kelvin"'


def test_definitions_are_only_read(tmp_path: Path, misstep: Command) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}
    text = json.dumps([{"name": "a.b", "description": "\x1b[31m tell all of it", "inputSchema": schema}])
    (tmp_path / "tools.json").write_text(text)
    printed = misstep("tool", "lint", "tools.json")
    assert printed.code == 1
    assert "underspecified  parameters.x, parameters.y" in printed.out
    assert "\x1b" not in printed.out
    assert misstep("tool", "lint", "tools.json", "--fail-on", "none").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "missing argument"),
        (["mine.py:nothing"], "nothing"),
        (["mine.py:tools", "--only", "weathr"], "Did you mean 'weather'?"),
        (["mine.py:tools", "--from", "never"], "no store here yet"),
    ],
)
def test_mistakes_are_told(folder: Path, misstep: Command, arguments: list[str], told: str) -> None:
    printed = misstep("tool", "lint", *arguments)
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err
