"""`misstep tool fuzz` as it is typed."""

import json
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

from misstep.errors import install_command
from tests.conftest import Command
from tests.features.tool_fuzz.faulty_tools import TOOLS

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
    assert "\ntraceback\n" in misstep("show", "last", finding["id"]).out
    again = misstep("replay", f"last/{finding['id'][:6]}")
    assert again.code == 1
    assert "as before" in again.out
    assert [line for line in again.out.splitlines() if line.endswith(" ")] == []
    assert "fuzz" in misstep("runs").out


@pytest.mark.full(after=2)
@pytest.mark.parametrize(
    ("gate", "code"), [("any", 1), ("none", 0), ("threshold:0.5", 0), ("threshold:0.9", 1)]
)
def test_the_gate_decides(folder: Path, misstep: Command, gate: str, code: int) -> None:
    text = TOOLS.replace("tools = [lookup, share, greet]", "tools = [lookup, greet]")
    (folder / "mine.py").write_text(text)
    printed = misstep("tool", "fuzz", "mine.py:tools", *SHORT, "--fail-on", gate, "--json")
    assert printed.code == code
    assert [tool["unique_errors"] for tool in json.loads(printed.out)["tools"]] == [1, 0, 0]


def test_what_is_not_installed_is_said_before_anything_is_done(
    folder: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    printed = misstep("tool", "fuzz", "mine.py:lookup", *SHORT)
    assert (printed.code, printed.out) == (2, "")
    assert printed.err == f"Hypothesis is not installed\n  install it with {install_command('fuzz')}\n"
    assert misstep("runs").code == 2  # there is no store


def test_reports_are_written(folder: Path, misstep: Command) -> None:
    given = ("--report", "html,ndjson", "--report-dir", "out", "--fail-on", "none")
    assert misstep("tool", "fuzz", "mine.py:lookup", *SHORT, *given).code == 0
    (page,) = (folder / "out").glob("*.html")
    assert "IndexError" in page.read_text()
    assert escape(TOOLS.splitlines()[6].strip()) in page.read_text()  # where it was raised
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


@pytest.mark.full
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

    assert "no store here yet" in told("--from", "last")
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--display", "none")
    assert "there is no run 'abc'" in told("--from", "abc")
    assert "is not from tool fuzz, but from plan test" in told("--from", "last")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no tools were given"),
        (["mine.py:tools", "--resume", "last"], "can't be combined with --resume"),
        (["--from", "last", "--resume", "last"], "--from can't be combined with --resume"),
        (["mine.py:tools", "--out", "x.py"], "--out requires --emit pytest"),
        (["mine.py:nothing"], "nothing"),
        (["mine.py:tools", "--only", "shar"], "Did you mean 'share'?"),
        (["mine.py:tools", "--workspace", "nowhere"], "is not a folder"),
        (["mine.py:tools", "--memory", "1"], "expected a whole number from 64"),
        (["mine.py:tools", "--sandbox", "jail"], "expected one of auto, bubblewrap, none"),
        (["mine.py:tools", "--emit", "pytest", "--out", "."], "can't be written: it is a folder"),
        (["mine.py:tools", "--emit", "pytest", "--out", "found"], "end it with .py"),
    ],
)
def test_mistakes_are_told(folder: Path, misstep: Command, arguments: list[str], told: str) -> None:
    printed = misstep("tool", "fuzz", *arguments)
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err


REFUSING = '''
SHEETS = {}


def read_sheet(name: str) -> str:
    """Read a sheet of the workbook."""
    if name not in SHEETS:
        raise ValueError(f"there is no sheet {name!r}")
    return SHEETS[name]


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def set_level(level: int) -> str:
    """Set the level."""
    if level < 0:
        raise ValueError("level must not be negative")
    if level % 2:
        raise RuntimeError("level handler crashed")
    return f"now {level}"


nothing = [read_sheet]
some = [read_sheet, greet]
all_of_them = [read_sheet, greet, set_level]
'''


@pytest.mark.full(after=2)
@pytest.mark.parametrize(
    ("tools", "gate", "code"),
    [
        ("nothing", "any", 4),
        ("some", "any", 4),
        ("some", "threshold:0.9", 4),
        ("some", "none", 0),
        ("greet", "any", 0),
        ("all_of_them", "any", 1),
    ],
)
def test_a_tool_that_took_no_call_was_not_tested(
    folder: Path, misstep: Command, tools: str, gate: str, code: int
) -> None:
    (folder / "mine.py").write_text(REFUSING)
    printed = misstep("tool", "fuzz", f"mine.py:{tools}", *SHORT, "--fail-on", gate, "--json")
    assert printed.code == code
    told = json.loads(printed.out)
    assert told["untested"] == ([] if tools == "greet" else ["read_sheet"])
    assert told["accepted"] == sum(tool["accepted"] for tool in told["tools"]) < told["calls"] + 1
    assert [tool["tested"] for tool in told["tools"]] == [tool["accepted"] > 0 for tool in told["tools"]]


def test_what_was_not_tested_is_said_first_and_the_refusals_are_shown(folder: Path, misstep: Command) -> None:
    (folder / "mine.py").write_text(REFUSING)
    given = ("--report", "html,junit", "--report-dir", "out")
    printed = misstep("tool", "fuzz", "mine.py:some", *SHORT, *given)
    assert printed.code == 4
    assert printed.out.splitlines()[0] == "no defects found; 1 tool not tested"
    assert "  read_sheet: 0 of 40 calls got past validation" in printed.out.splitlines()
    (counted,) = [line for line in printed.out.splitlines() if re.match(r"\d+ of \d+ calls got past", line)]
    assert re.fullmatch(r"[4-9]\d of 120 calls got past validation; 1 not tested: read_sheet", counted)
    assert "% of valid calls: ValueError: there is no sheet" in printed.out
    (tool, *_) = json.loads(misstep("show", "last", "--json").out)["tools"]
    refusal, *_ = tool["refusals"]
    assert 0 < refusal["seen"] == refusal["share"] * tool["valid"]
    assert f"there is no sheet {refusal['arguments']['name']!r}" == refusal["message"]
    page = next((folder / "out").glob("*.html")).read_text()
    assert counted in page
    assert "there is no sheet" in page
    cases = next((folder / "out").glob("*.xml")).read_text()
    assert "not tested: all 40 calls were refused" in cases


def test_a_suspicious_refusal_is_a_finding_like_any_other(folder: Path, misstep: Command) -> None:
    (folder / "mine.py").write_text(REFUSING)
    given = ("--report", "sarif,junit", "--report-dir", "out", "--emit", "pytest", "--out", "test_mine.py")
    printed = misstep("tool", "fuzz", "mine.py:set_level", *SHORT, *given)
    assert printed.code == 1
    assert "suspicious-refusal  RuntimeError  mine.py:22 in set_level" in printed.out
    (finding,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    assert (finding["kind"], finding["arguments"]) == ("suspicious-refusal", {"level": 1})
    assert finding["reproduced"] == finding["replayed"] > 0
    again = misstep("replay", f"last/{finding['id']}")
    assert (again.code, "as before" in again.out) == (1, True)
    for kind in ("sarif", "xml"):
        assert "level handler crashed" in next((folder / "out").glob(f"*.{kind}")).read_text()
    assert "replay_calls" in (folder / "test_mine.py").read_text()


def test_suspicious_refusals_come_after_crashes(folder: Path, misstep: Command) -> None:
    crashing = REFUSING.replace('return f"now {level}"', 'return f"{1 // (level - 70)}"')
    (folder / "mine.py").write_text(crashing)
    told = json.loads(misstep("tool", "fuzz", "mine.py:set_level", *SHORT, "--json").out)
    kinds = [finding["kind"] for finding in told["tools"][0]["findings"]]
    assert kinds == ["crash", "suspicious-refusal"]
