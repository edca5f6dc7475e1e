"""Completion in a real bash, and in the other shells where they are installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from misstep.cli import run
from misstep.store.runs import Store

BIN = Path(sys.executable).parent

# What bash does when somebody presses Tab at the end of a line.
PRESS_TAB = r"""
source <(misstep completion bash)
line="$1"
IFS=' ' read -ra COMP_WORDS <<< "$line"
[[ "$line" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { echo "compopt $*"; }
_misstep_completion misstep
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text("def agent(request, tools):\n    return ''\n\ndef other(a): ...\n")
    (tmp_path / "broken.py").write_text("def (")
    (tmp_path / "with\nline.py").touch()
    return tmp_path


def completed(line: str, folder: Path) -> list[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", PRESS_TAB, "bash", line],
        cwd=folder,
        env={"PATH": f"{BIN}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("misstep pl", ["plan"]),
        ("misstep tool f", ["fix", "fuzz"]),
        ("misstep plan test --budget-t", ["--budget-tokens", "--budget-time"]),
        ("misstep plan test --agent sim:perf", ["sim:perfect"]),
        ("misstep plan test --agent sh", ["shop.py:agent"]),
        ("misstep plan test --agent w", []),
        ("misstep plan test --agent b", []),
        ("misstep plan test --family order,ti", ["order,time"]),
        ("misstep tool fuzz --sandbox ", ["auto", "bubblewrap", "none"]),
        ("misstep plan test --prices ", ["compopt", "-o", "default"]),
        ("misstep show ", []),  # no store here
    ],
)
def test_bash_completes(line: str, offered: list[str], project: Path) -> None:
    assert completed(line, project) == offered
    assert not (project / ".misstep").exists()


def test_bash_completes_runs_and_their_failures(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "plan",
                "test",
                "--agent",
                "sim:random",
                "--count",
                "9",
                "--fail-on",
                "none",
                "--display",
                "none",
                "--json",
            ]
        )
        == 0
    )
    assert run(["show", "last", "--json"]) == 0
    shown = capfd.readouterr().out
    offered = completed("misstep show ", project)
    assert offered[0] == "last"
    assert len(offered) == 2
    assert f'"{offered[1]}"' in shown
    with Store(str(project / ".misstep" / "store.db")) as store:
        failed = {f"last/{each.case.id}" for each in store.outcomes(offered[1], "failed")}
    assert failed
    assert {*completed("misstep replay last/", project)} == failed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_are_read_by_their_shells(shell: str, project: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run([BIN / "misstep", "completion", shell], capture_output=True, check=True).stdout
    (project / "script").write_bytes(script)
    check = [shell, "-n", "script"]
    assert subprocess.run(check, cwd=project, capture_output=True).returncode == 0


@pytest.mark.parametrize(("shell", "extra"), [("zsh", "last\nnewest run"), ("fish", "last\tnewest run")])
def test_other_shells_are_told_what_runs_are(
    shell: str, extra: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "plan",
                "test",
                "--agent",
                "sim:random",
                "--count",
                "3",
                "--fail-on",
                "none",
                "--display",
                "none",
                "--json",
            ]
        )
        == 0
    )
    current = {"zsh": "2", "fish": ""}[shell]
    environment = {
        "_MISSTEP_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "misstep show ",
        "COMP_CWORD": current,
    }
    done = subprocess.run([BIN / "misstep"], cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert extra in done.stdout
    assert "plan test" in done.stdout


def test_ids_that_a_shell_would_expand_are_not_offered(project: Path) -> None:
    made = subprocess.run(
        [BIN / "misstep", "plan", "synth", "--count", "2"], capture_output=True, text=True, check=True
    )
    first, second = made.stdout.splitlines()
    case = json.loads(first)
    (project / "cases.jsonl").write_text(first.replace(case["id"], "$(touch x) *") + "\n" + second + "\n")
    command = ["plan", "test", "--agent", "sim:idle", "--cases", "cases.jsonl", "--fail-on", "none", "--json"]
    subprocess.run([BIN / "misstep", *command], capture_output=True, check=True)
    assert completed("misstep replay last/", project) == [f"last/{json.loads(second)['id']}"]
    assert not (project / "x").exists()
