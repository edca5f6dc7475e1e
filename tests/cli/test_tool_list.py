"""`misstep tool list` as people use it."""

import json
import sys
from pathlib import Path

from tests.cli.conftest import Command

CODE = '''
from typing import Literal, TypedDict

class Weather(TypedDict):
    sun: bool

def weather(city: str, days: int = 3, unit: Literal["c", "f"] = "c") -> Weather:
    """Tell the weather.

    Much more is said here.

    Args:
        city: The city to look at.
    """
    raise AssertionError("a tool was called")

async def odd(sizes: list[int | None]): ...

tools = [weather, odd]
'''
SHOWN = """\
2 tools

weather
  Tell the weather.
  *  city  string     The city to look at.
     days  integer
     unit  "c" | "f"
  function · output schema · mine.py:7

odd
  *  sizes  array of integer | null
  function · async · mine.py:17
"""


def test_tools_are_shown_and_not_called(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    result = misstep("tool", "list", "mine.py:tools")
    assert result.code == 0
    assert "\n".join(line.rstrip() for line in result.out.splitlines()) + "\n" == SHOWN


def test_everything_as_json(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "a.b", "description": "\x1b[31m"}]))
    result = misstep("tool", "list", "--json", "mine.py:weather", "tools.json")
    weather, other = json.loads(result.out)["tools"]
    assert weather["tool"]["name"] == "weather"
    assert (weather["kind"], weather["where"]) == ("function", "mine.py:weather")
    assert weather["output"]["$defs"]["Weather"]["required"] == ["sun"]
    assert weather["source"]["line"] == 7
    assert (other["tool"]["name"], other["kind"]) == ("a.b", "definition")
    assert "\x1b" not in misstep("tool", "list", "tools.json").out


def test_what_is_wrong_is_said(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    missing = misstep("tool", "list", "mine.py:nothing")
    assert (missing.code, missing.out) == (2, "")
    assert missing.err == "mine.py  there is no 'nothing' here\n  there is: Weather, weather, odd, tools\n"
    assert misstep("tool", "list").code == 2


PROXY = """
class Proxy:
    def __getattribute__(self, name):
        raise RuntimeError("not now")

lazy = Proxy()
"""


def test_an_object_that_nobody_can_look_at_is_no_obstacle(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROXY)
    missing = misstep("tool", "list", "mine.py:nothing")
    assert missing.err == "mine.py  there is no 'nothing' here\n  there is: Proxy\n"


def test_whatever_code_does_when_it_is_loaded_stays_where_it_is(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os\nopen('left', 'w')\nprint('hello')\n" + CODE)
    result = misstep("tool", "list", "mine.py:tools", "--python", sys.executable)
    assert (result.code, "hello" in result.out + result.err) == (0, False)
    assert not (tmp_path / "left").exists()
    (tmp_path / "mine.py").write_text("import os; os._exit(0)")
    result = misstep("tool", "list", "mine.py:tools")
    head, hint = result.err.splitlines()
    assert (result.code, head) == (2, "the process broke off while 'mine.py:tools' was loaded")
    assert hint.startswith("  it said nothing: is '")
    assert hint.endswith("' a Python interpreter, or does the code end its own process?")


def test_tools_that_cannot_be_read_are_told_of(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Odd: ...\ndef bad(x: Odd): ...\ndef good(x: int): ...\ntools = [bad, good]\n"
    )
    result = misstep("tool", "list", "mine.py:tools")
    assert result.code == 0
    assert "good" in result.out
    assert "left out: the tool 'bad': 'x' is of the type mine" in result.err
