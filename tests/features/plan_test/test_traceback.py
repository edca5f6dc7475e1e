"""The traceback of an agent's exception is kept with its case and shown."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Command

AGENT = """
def look_up(place):
    return {"here": 1}[place]


def agent(request, tools):
    return str(look_up("there"))
"""
FRAMES = (
    'mine.py:7 in agent: return str(look_up("there"))',
    'mine.py:3 in look_up: return {"here": 1}[place]',
)


@pytest.mark.parametrize("options", [(), ("--python", sys.executable)], ids=["in-process", "apart"])
def test_the_traceback_of_an_agent_is_kept(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "mine.py").write_text(AGENT)
    done = misstep("plan", "test", "--agent", "mine.py:agent", *options, "--count", "3", "--display", "none")
    assert "errors" not in done.out  # "errored 3" beside "errors none" said two things at once
    heads = done.out.split("KeyError")[0].splitlines()
    case = next(line.split()[0] for line in reversed(heads) if line.endswith("  errored"))

    shown = misstep("show", "last", case).out
    stored = json.loads(misstep("show", "last", case, "--json").out)["transcript"]["error"]
    assert "KeyError: 'there'" in stored.splitlines()[0]
    for frame in FRAMES:
        assert frame in "".join(shown.split("\n"))
        assert frame in stored

    misstep("report", "last", "--report-dir", "pages")
    (page,) = Path("pages").glob("*.html")
    assert page.read_text().count("Traceback") >= 1
