"""`misstep tool fuzz` as it is typed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.fuzzed import TOOLS
from tests.cli.conftest import Command

SHORT = ("--calls-per-tool", "40", "--display", "none")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(TOOLS)
    return tmp_path


def test_a_run_is_shown_replayed_and_written_as_tests(folder: Path, misstep: Command) -> None:
    emit = ("--emit", "pytest", "--out", "test_mine.py")
    printed = misstep("tool", "fuzz", "mine.py:lookup", *SHORT, *emit)
    assert printed.code == 1
    assert "crash  IndexError  mine.py:7 in lookup" in printed.out
    assert "regression tests are in test_mine.py" in printed.err
    assert "replay_calls" in (folder / "test_mine.py").read_text()
    (finding,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    assert "the way there" in misstep("show", "last", finding["id"]).out
    again = misstep("replay", f"last/{finding['id'][:6]}")
    assert again.code == 1
    assert "as before" in again.out
    assert "fuzz" in misstep("runs").out


@pytest.mark.parametrize(
    ("gate", "code"), [("any", 1), ("none", 0), ("threshold:0.5", 0), ("threshold:0.9", 1)]
)
def test_the_gate_decides(folder: Path, misstep: Command, gate: str, code: int) -> None:
    text = TOOLS.replace("tools = [lookup, share, greet]", "tools = [lookup, greet]")
    (folder / "mine.py").write_text(text)
    printed = misstep("tool", "fuzz", "mine.py:tools", *SHORT, "--fail-on", gate, "--json")
    assert printed.code == code
    assert [tool["unique_errors"] for tool in json.loads(printed.out)["tools"]] == [1, 0, 0]


def test_reports_are_written(folder: Path, misstep: Command) -> None:
    given = ("--report", "html,ndjson", "--report-dir", "out", "--fail-on", "none")
    assert misstep("tool", "fuzz", "mine.py:lookup", *SHORT, *given).code == 0
    (page,) = (folder / "out").glob("*.html")
    assert "IndexError" in page.read_text()
    (events,) = (folder / "out").glob("*.ndjson")
    kinds = [json.loads(line)["type"] for line in events.read_text().splitlines()]
    assert kinds == ["run_started", "finding_made", "tool_finished", "run_finished"]


VAULT = '''
def vault(code: str) -> int:
    """Open the vault."""
    if code.startswith("sesame"):
        return 1 // 0
    return "closed" if code == "open up" else 0
'''


def test_a_run_begins_with_what_another_has_found(folder: Path, misstep: Command) -> None:
    (folder / "mine.py").write_text(VAULT)

    def found(*given: str) -> list[dict[str, Any]]:
        printed = misstep("tool", "fuzz", "mine.py:vault", "--json", "--display", "none", *given)
        (tool,) = json.loads(printed.out)["tools"]
        return [{**tool, "seconds": 0}, *tool["findings"]]

    _, *before = found("--calls-per-tool", "600")
    assert {each["error"] for each in before} == {"ZeroDivisionError", "type hint"}
    run = json.loads(misstep("show", "last", "--json").out)["run"]
    _, *early = found("--calls-per-tool", "2")
    assert len(early) < len(before)
    _, *at_once = found("--calls-per-tool", "2", "--from", run, "--seed", "3")
    assert {each["id"] for each in at_once} == {each["id"] for each in before}
    assert found("--calls-per-tool", "80", "--from", run) == found("--calls-per-tool", "80", "--from", run)


def test_only_a_run_on_tools_can_be_begun_with(folder: Path, misstep: Command) -> None:
    def told(*given: str) -> str:
        printed = misstep("tool", "fuzz", "mine.py:greet", *SHORT, *given)
        assert printed.code == 2
        return printed.err

    assert "there is no store here yet" in told("--from", "last")
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--display", "none")
    assert "there is no run 'abc'" in told("--from", "abc")
    assert "is not from tool fuzz, but from plan test" in told("--from", "last")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no tools were given"),
        (["mine.py:tools", "--resume", "last"], "can't go with --resume"),
        (["--from", "last", "--resume", "last"], "--from can't go with --resume"),
        (["mine.py:tools", "--out", "x.py"], "--out is where tests go"),
        (["mine.py:nothing"], "nothing"),
        (["mine.py:tools", "--only", "shar"], "Did you mean 'share'?"),
        (["mine.py:tools", "--workspace", "nowhere"], "is not a folder"),
        (["mine.py:tools", "--memory", "1"], "expected a whole number from 64"),
        (["mine.py:tools", "--sandbox", "jail"], "expected one of auto, bubblewrap, none"),
        (["mine.py:tools", "--emit", "pytest", "--out", "."], "can't be written: it is a folder"),
    ],
)
def test_mistakes_are_told(folder: Path, misstep: Command, arguments: list[str], told: str) -> None:
    printed = misstep("tool", "fuzz", *arguments)
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err
