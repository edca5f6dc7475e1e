"""Agents that spoil the interpreter they share with us end their own case, not the run."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from misstep.core.settings import Settings
from misstep.features.plan_test.run import run_agent
from misstep.store.runs import Store

AGENT = """
import builtins, json, os, signal, sys, time

attacked = []

def broken(*_, **__):
    raise RuntimeError("patched by the agent")

async def agent(task, tools):
    if not attacked:
        attacked.append(True)
        ATTACK
    return "done"
"""
ATTACKS = {
    "open": "builtins.open = broken",
    "print": "builtins.print = broken",
    "removed": "del builtins.sorted",
    "dumps": "json.dumps = json.loads = broken",
    "time": "time.time = broken",
    "stdout": "sys.stdout = sys.stderr = None",
    "close": "os.close(1); os.close(2)",
    "close 2": "os.close(2)",
    "close stderr": "sys.stderr.close()",
    "close stdout": "sys.stdout.close()",
    "close both": "sys.stdout.close(); sys.stderr.close()",
    "close buffers": "sys.stdout.buffer.close(); sys.stderr.buffer.close()",
    "close the originals": "sys.__stdout__.close(); sys.__stderr__.close(); sys.__stdin__.close()",
    "detach": "sys.stdout.detach(); sys.stderr.detach()",
    "closerange": "os.closerange(0, 256)",
    "recursion": "sys.setrecursionlimit(50)",
}


@pytest.mark.full(after=2)
@pytest.mark.parametrize("display", ["none", "plain"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_the_interpreter_ends_one_case(attack: str, display: str, tmp_path: Path) -> None:
    (tmp_path / "attacker.py").write_text(AGENT.replace("ATTACK", ATTACKS[attack]))
    flags = ("--agent", "attacker.py:agent", "--count", "4", "--jobs", "1", "--display", display, "--json")
    command = [sys.executable, "-m", "misstep", "plan", "test", *flags]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    summary = json.loads(done.stdout)
    assert (summary["cases"], summary["errored"]) == (4, 1), done
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        (errored,) = store.outcomes(summary["run"], "errored")
    assert "--python" in msgspec.json.encode(errored).decode()


ALONE = """
import json
from misstep.features.plan_test.run import run_agent
from misstep.core.settings import Settings

summary = run_agent(Settings(agent="attacker.py:agent", count=4, jobs=1, store="s.db"))
with open("summary", "w") as file:
    json.dump([summary.cases, summary.errored], file)
print("printed")
"""


@pytest.mark.full(after=1)
@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.startswith(("close", "detach"))])
def test_so_it_does_without_the_command_line(attack: str, tmp_path: Path) -> None:
    (tmp_path / "attacker.py").write_text(AGENT.replace("ATTACK", ATTACKS[attack]))
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert json.loads((tmp_path / "summary").read_text()) == [4, 1]
    assert done.stdout == "printed\n", done


def test_folder_and_signals_are_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mover.py").write_text(AGENT.replace("ATTACK", 'os.chdir("/")'))
    heard = signal.getsignal(signal.SIGINT)
    summary = run_agent(Settings(agent="mover.py:agent", count=2, store="s.db"))
    assert summary.errored == 0
    assert Path.cwd() == tmp_path
    assert signal.getsignal(signal.SIGINT) is heard
