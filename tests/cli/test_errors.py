"""Bad input: an error that says where, what was given, what was expected; exit code 2; nothing left behind."""

import ctypes
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.snapshots import check_snapshot

TEST = ("plan", "test", "--agent", "sim:perfect")
CHECK = ("plan", "check", "--cases", "cases.jsonl", "--out", "out.jsonl", "--plans")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no-command", ("plan", "tset")),
        ("no-option", ("plan", "test", "--cuont", "3")),
        ("no-agent", ("plan", "test")),
        ("unknown-agent", ("plan", "test", "--agent", "reakt")),
        ("misspelt-agent", ("plan", "test", "--agent", "sim:perfct")),
        ("agent-parameter", ("plan", "test", "--agent", "sim:terminal", "-A", "phrase")),
        ("empty-range", (*TEST, "--actions", "5-3")),
        ("not-a-range", (*TEST, "--actions", "few")),
        ("too-many-actions", (*TEST, "--actions", "3-30")),
        ("count", (*TEST, "--count", "0")),
        ("rate", (*TEST, "--relative", "3")),
        ("display", (*TEST, "--display", "ritch")),
        ("gate", (*TEST, "--fail-on", "threshold:2")),
        ("timeout", (*TEST, "--timeout", "0")),
        ("uneven", (*TEST, "--exhaustive", "--count", "7")),
        ("no-cases", (*TEST, "--cases", "nothing.jsonl")),
        ("store-kind", (*TEST, "--store", "mysql://x")),
        ("check-what", ("plan", "check")),
        ("two-outputs", ("plan", "synth", "--json")),
        ("no-folder", ("plan", "synth", "--count", "3", "--out", "missing/cases.jsonl")),
        ("nothing-given", (*TEST, "--cases", "")),
        ("cases-and-count", (*TEST, "--cases", "x.jsonl", "--count", "3", "--seed", "1")),
        ("resume-and-agent", (*TEST, "--resume", "last")),
        ("most", ("show", "last", "--most", "-1")),
    ],
)
def test_usage_errors(misstep: Command, tmp_path: Path, name: str, arguments: tuple[str, ...]) -> None:
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert list(tmp_path.iterdir()) == []
    check_snapshot(f"error-{name}", result.err, tmp_path)


@pytest.fixture
def cases(misstep: Command, tmp_path: Path) -> Path:
    misstep("plan", "synth", "--count", "3", "--out", "cases.jsonl")
    return tmp_path / "cases.jsonl"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("malformed", b'{"case": \n'),
        ("truncated", b'{"case":"x","calls":[{"to'),
        ("not-utf-8", b'{"case":"\xff","calls":[]}\n'),
        ("unknown-case", b'{"case":"nobody","calls":[]}\n'),
        ("wrong-type", b'{"case":"x","calls":"none"}\n'),
        ("empty", b""),
    ],
)
def test_bad_plans(misstep: Command, cases: Path, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "plans.jsonl").write_bytes(content)
    result = misstep(*CHECK, "plans.jsonl")
    assert (result.code, result.out) == (2, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.jsonl", "plans.jsonl"]
    check_snapshot(f"error-plans-{name}", result.err)


def test_a_bad_plan_after_good_ones_prints_no_half_of_a_result(
    misstep: Command, cases: Path, tmp_path: Path
) -> None:
    case = cases.read_text().split('"id":"')[1][:12]
    (tmp_path / "plans.jsonl").write_text(f'{{"case":"{case}","calls":[]}}\n' * 50 + "oops\n")
    result = misstep("plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("plans.jsonl:51  not JSON")


@pytest.mark.parametrize(
    "verb", [("plan", "test", "--agent", "sim:perfect"), ("plan", "check", "--plans", "cases.jsonl")]
)
@pytest.mark.parametrize("damage", ["cut", "twice", "field", "cycle"])
def test_bad_cases_are_found_before_anything_is_done(
    misstep: Command, cases: Path, tmp_path: Path, verb: tuple[str, ...], damage: str
) -> None:
    lines = cases.read_text().splitlines(keepends=True)
    if damage == "cut":
        lines[2] = lines[2][:100]
    elif damage == "twice":
        lines.append(lines[0])
    elif damage == "field":
        lines[1] = lines[1].replace('"topic"', '"topik"')
    else:
        first = '{"kind":"before","first":"a1","then":"a2"},{"kind":"before","first":"a2","then":"a1"},'
        lines[1] = lines[1].replace('"constraints":[', f'"constraints":[{first}')
    cases.write_text("".join(lines))
    result = misstep(*verb, "--cases", "cases.jsonl")
    number = {"cut": 3, "twice": 4, "field": 2, "cycle": 2}[damage]
    assert result.code == 2
    assert result.err.startswith(f"cases.jsonl:{number}  ")
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


@pytest.mark.parametrize("content", [b"Dear diary", b"x" * 5000])
def test_a_store_that_is_none(misstep: Command, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "diary.db").write_bytes(content)
    for arguments in (("runs",), ("show", "last"), TEST):
        result = misstep(*arguments, "--store", "diary.db")
        assert (result.code, result.out) == (2, "")
        assert result.err == "diary.db  the store can't be used\n  it is not a SQLite file\n"
    assert [path.name for path in tmp_path.iterdir()] == ["diary.db"]


def without_override() -> None:
    """Make the rights of files count for root too: drop CAP_DAC_OVERRIDE before the program starts."""
    if os.getuid() == 0:
        prctl, drop_capability, dac_override = ctypes.CDLL(None).prctl, 24, 1
        assert prctl(drop_capability, dac_override, 0, 0, 0) == 0


@pytest.mark.full(after=1)
@pytest.mark.skipif(sys.platform != "linux", reason="root is stopped with a Linux call")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*TEST, "--count", "2"), "  Permission denied\n"),
        (
            ("plan", "synth", "--count", "2", "--out", "cases.jsonl"),
            "can't be written: its folder is read-only\n  name another file\n",
        ),
    ],
    ids=["test", "synth"],
)
def test_a_read_only_directory(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    command = [sys.executable, "-m", "misstep", *arguments]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=without_override
    )
    tmp_path.chmod(stat.S_IRWXU)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(said)
    assert list(tmp_path.iterdir()) == []


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    script = f'set -o pipefail; misstep() {{ {sys.executable} -m misstep "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    result = shell(tmp_path, "misstep plan synth --count 20000 | head -c 1000 | wc -c")
    assert (result.returncode, result.stdout.strip(), result.stderr) == (141, "1000", "")


@pytest.mark.full
def test_closed_streams(tmp_path: Path) -> None:
    run = "misstep plan test --agent sim:perfect --count 3 --json"
    result = shell(tmp_path, f"{run} --display plain 2>&-")
    assert result.returncode == 0
    assert json.loads(result.stdout)["passed"] == 3
    assert shell(tmp_path, f"{run} >&-").returncode == 0
    assert shell(tmp_path, "misstep plan synth --count 3 >&-").returncode == 0


def test_a_full_disk(tmp_path: Path) -> None:
    result = shell(tmp_path, "misstep plan synth --count 300 > /dev/full")
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert "Traceback" not in result.stderr


def test_verdicts_don_t_overwrite_what_they_are_about(misstep: Command, cases: Path, tmp_path: Path) -> None:
    for name in ("--cases", "--plans"):
        before = cases.read_bytes()
        other = {"--cases": "--plans", "--plans": "--cases"}[name]
        (tmp_path / "other").write_bytes(b"{}\n")
        result = misstep("plan", "check", name, "cases.jsonl", other, "other", "--out", "./cases.jsonl")
        assert result.code == 2
        assert "would be overwritten by the verdicts" in result.err
        assert cases.read_bytes() == before


def test_a_run_does_not_read_its_cases_from_a_pipe(tmp_path: Path) -> None:
    result = shell(
        tmp_path, "misstep plan synth --count 2 | misstep plan test --agent sim:perfect --cases /dev/stdin"
    )
    assert result.returncode == 2
    assert "/dev/stdin  is not a regular file" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_setting_for_another_command_does_not_leak(
    misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_CASES", "nothing.jsonl")
    assert len(misstep("plan", "synth", "--count", "2").out.splitlines()) == 2


def test_a_bug_of_ours_is_not_a_finding(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("misstep.planning.synthesis.suite.make_case", broken)
    monkeypatch.setattr("misstep.runs.cases.make_case", broken)
    result = misstep("plan", "synth", "--count", "2")
    assert result.code == 70
    assert "misstep has a bug: please report it" in result.err


def test_words_that_are_not_utf_8(tmp_path: Path) -> None:
    result = shell(tmp_path, "misstep show $'\\xff'")
    assert result.returncode == 2
    assert "is not valid text" in result.stderr


def test_a_terminal_that_lacks_characters(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misstep", "plan", "test", "--agent", "sim:greedy", "--count", "20"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert result.returncode == 1
    assert b"Sentence 2 says so: ?" in result.stdout.replace(b"\n", b" ").replace(b"  ", b"")
    assert b"Traceback" not in result.stderr


def test_help_is_there_for_every_command(misstep: Command) -> None:
    for arguments in (
        (),
        ("plan",),
        ("plan", "synth"),
        ("plan", "check"),
        ("plan", "test"),
        ("runs",),
        ("show",),
        ("replay",),
    ):
        result = misstep(*arguments, "--help")
        assert (result.code, result.err) == (0, "")
    check_snapshot("help", misstep("--help").out)
    check_snapshot("help-plan-test", misstep("plan", "test", "--help").out)
