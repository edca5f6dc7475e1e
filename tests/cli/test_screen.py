"""Whatever an agent prints, standard output is ours, the terminal is safe and the run goes on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from misstep.cli.screen import SHOWN

PATIENCE = 100.0


def run(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, *arguments]
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("MISSTEP_")}, **environment}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=PATIENCE)


def summarise(folder: Path, code: str, *flags: str) -> tuple[dict[str, Any], str]:
    """The summary of a run of an agent with this code, and what was printed on standard error."""
    (folder / "mine.py").write_text(code)
    common = ("--agent", "mine.py:agent", "--json", "--display", "none", "--fail-on", "none")
    result = run(folder, "-m", "misstep", "plan", "test", *common, *flags)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout), result.stderr.decode()


LOUD = r"""
import os, sys
def agent(request, tools):
    for number in range(20_000):
        print(f"\x1b[2J\x1b]0;title\x07 {number} " + "x" * 200)
    os.write(1, b"last words\n")
    return "done"
"""


@pytest.mark.full
def test_megabytes_are_left_out_with_a_note(tmp_path: Path) -> None:
    summary, printed = summarise(tmp_path, LOUD, "--count", "1")
    assert (summary["cases"], summary["errored"]) == (1, 0)
    assert len(printed) < 3 * SHOWN
    assert printed.startswith("\\u001b[2J\\u001b]0;title\\u0007 0 xxx")
    assert "\x1b" not in printed
    assert printed.count("(the rest of the agent's output is omitted)\n") == 1
    assert printed.endswith(" MB of the agent's output omitted)\n")


ODD = r"""
import os, sys
def agent(request, tools):
    os.write(1, b"caf\xe9 \xff\xfe\n")
    os.write(2, "left \u202eright\u2066 \ud800\n".encode("utf-8", "surrogatepass"))
    sys.stdout.write("lone \udcff\n")
    sys.stdout.buffer.write(b"bytes\0\n")
    print("10 %\r50 %\r100 %")
    os.system("echo from a child")
    print("no end", end="")
    return "done"
"""


def test_what_is_no_text_is_shown_as_far_as_it_can_be(tmp_path: Path) -> None:
    _, printed = summarise(tmp_path, ODD, "--count", "1")
    assert printed.split("\n") == [
        "caf\ufffd \ufffd\ufffd",
        "left \\u202eright\\u2066 \ufffd\ufffd\ufffd",
        "lone \\udcff",
        "bytes\\u0000",
        "100 %",
        "from a child",
        "no end",
        "",
    ]


ANSWERS = r"""
class Odd:
    def __str__(self):
        raise ValueError("no words")
class Own(str):
    def __str__(self):
        raise ValueError("no words")
ANSWERS = [b"caf\xc3\xa9", b"caf\xe9", "a\ud800b\0", Own("own"), Odd(), "x" * 10_000_000, None]
given = iter(ANSWERS)
def agent(request, tools):
    tools[0](text="y" * 10_000_000)
    return next(given)
"""


@pytest.mark.full
def test_whatever_an_agent_answers_is_kept_within_bounds(tmp_path: Path) -> None:
    summary, _ = summarise(tmp_path, ANSWERS, "--count", "7", "--jobs", "1", "--report", "ndjson")
    assert (summary["cases"], summary["errored"]) == (7, 0)
    (report,) = tmp_path.rglob("*.ndjson")
    events = [json.loads(line) for line in report.read_text().splitlines()]
    kept = [event["outcome"]["transcript"] for event in events if event["type"] == "case_finished"]
    assert [transcript.get("answer", "") for transcript in kept] == [
        "café",
        "(not valid UTF-8: invalid bytes are shown as \ufffd) caf\ufffd",
        "a?b\ufffd",
        "own",
        "(Odd that can't be converted to text: ValueError)",
        "x" * 20_000 + "… (9,980,000 more characters)",
        "",
    ]
    for transcript in kept:
        (call,) = transcript["calls"]
        assert call["arguments"] == {"text": "y" * 4_000 + "… (9,996,000 more characters)"}


ORPHAN = """
import subprocess
def agent(request, tools):
    orphan = subprocess.Popen(["sleep", "1000"])
    open("orphan", "w").write(str(orphan.pid))
    return "done"
"""


def test_a_process_that_an_agent_leaves_behind_does_not_keep_us(tmp_path: Path) -> None:
    try:
        summary, _ = summarise(tmp_path, ORPHAN, "--count", "1")
    finally:
        os.kill(int((tmp_path / "orphan").read_text()), signal.SIGKILL)
    assert summary["cases"] == 1


UNSTOPPABLE = """
import os, sys, time
def agent(request, tools):
    while True:
        try:
            print("noise")
            os.write(1, b"noise from below\\n")
            sys.__stdout__.write("old noise\\n")
            time.sleep(0.0001)
        except BaseException:
            pass
"""


@pytest.mark.full
def test_agents_that_can_t_be_stopped_never_get_to_standard_output(tmp_path: Path) -> None:
    summary, printed = summarise(tmp_path, UNSTOPPABLE, "--count", "4", "--jobs", "4", "--timeout", "0.5")
    assert summary["errors"]["timeout"] == 4
    assert "noise from below\n" in printed


HUNG = """
import asyncio, itertools, time
numbers = itertools.count()
async def agent(request, tools):
    number = next(numbers)
    await asyncio.sleep(0.1)
    if number == 1:
        time.sleep(3600)
    if number == 5:
        while True:
            pass
    await asyncio.sleep(0.3)
    return "done"
"""


@pytest.mark.full
def test_hung_cases_cost_nothing_but_themselves(tmp_path: Path) -> None:
    summary, _ = summarise(tmp_path, HUNG, "--count", "12", "--jobs", "4", "--timeout", "2.5")
    assert summary["cases"] == 12
    assert (summary["errors"]["timeout"], summary["errors"]["lost"]) == (2, 10)


@pytest.mark.full
def test_our_own_crash_is_seen(tmp_path: Path) -> None:
    code = """
from misstep.cli.output import own_output
with own_output() as screen:
    print("the agent", end="")
    screen.write("ours\\n")
    raise LookupError("our own bug")
"""
    result = run(tmp_path, "-c", code)
    assert (result.returncode, result.stdout) == (1, b"")
    lines = result.stderr.decode().splitlines()
    assert sorted(lines[:2]) == ["ours", "the agent"]
    assert lines[2] == "Traceback (most recent call last):"
    assert lines[-1] == "LookupError: our own bug"


def test_a_crash_below_python_is_seen(tmp_path: Path) -> None:
    code = """
import ctypes
from misstep.cli.output import own_output
with own_output():
    ctypes.string_at(0)
"""
    result = run(tmp_path, "-c", code)
    assert result.returncode < 0
    assert "Segmentation fault" in result.stderr.decode()


def test_streams_are_as_they_were_afterwards(tmp_path: Path) -> None:
    code = """
import logging, os, sys
from misstep.cli.output import own_output
before = sys.stdout, sys.stderr, len(os.listdir("/proc/self/fd"))
for _ in range(3):
    with own_output() as screen:
        print("theirs")
        logging.getLogger().addHandler(logging.StreamHandler())
        screen.stdout.write(b"real\\n")
assert (sys.stdout, sys.stderr, len(os.listdir("/proc/self/fd"))) == before
print("ours")
os.write(1, b"")
sys.stdout.flush()
os.system("echo child")
logging.error("late")
"""
    result = run(tmp_path, "-c", code)
    assert result.stdout.decode().split() == ["real", "real", "real", "ours", "child"]
    assert result.stderr.decode().split() == ["theirs"] * 3 + ["late"] * 3


def test_a_stream_that_is_no_longer_needed_is_not_closed(tmp_path: Path) -> None:
    """Closing it is refused, which Python 3.13 and newer would report at the end of every run."""
    code = """
import gc
from misstep.cli import screen
from misstep.cli.output import own_output
refused = []
screen.refuse_closing = lambda: refused.append(1)
with own_output():
    print("theirs")
gc.collect()
assert refused == []
"""
    result = run(tmp_path, "-c", code)
    assert (result.returncode, result.stderr.decode()) == (0, "theirs\n")


@pytest.mark.full
@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_stream_that_is_closed_swallows_what_it_gets(tmp_path: Path, closed: str) -> None:
    (tmp_path / "mine.py").write_text("def agent(request, tools): print('hello')\n")
    command = f"exec {sys.executable} -m misstep plan test --agent mine.py:agent --count 1 --fail-on none {closed}>&-"
    result = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=PATIENCE)
    assert result.returncode == 0
    assert ("hello" in result.stderr.decode()) == (closed == "1")
    assert b"hello" not in result.stdout
