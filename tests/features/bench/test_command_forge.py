"""`misstep bench forge` as it is typed."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.benchmarks.forge.test_tasks import KINDS
from tests.conftest import Command

QUIET = ("--display", "none", "--split", "all", "--json")


@pytest.mark.full
@pytest.mark.parametrize(("manner", "passed"), [("right", 54), ("idle", 0), ("damage", 0)])
def test_agents_that_are_known(misstep: Command, manner: str, passed: int) -> None:
    printed = misstep("bench", "forge", "--agent", f"sim:{manner}", *QUIET)
    found: dict[str, Any] = json.loads(printed.out)
    assert (found["passed"], found["failed"], found["tasks"]) == (passed, 54 - passed, 54)
    assert printed.code == int(not passed)
    counts = {kind: rate["passed"] + rate["failed"] for kind, rate in found["by_kind"].items()}
    assert counts == KINDS
    if manner == "damage":
        assert all(len(task["why"]) == 1 for task in found["results"])


def test_one_task_in_full(misstep: Command) -> None:
    one = ("--kind", "create-pull-request", "--split", "validation", "--display", "none")
    printed = misstep("bench", "forge", "--agent", "sim:idle", *one)
    run, task = re.findall(r"misstep show (\w+)/(\w+)", printed.out)[0]
    shown = misstep("show", f"{run}/{task}")
    assert "missing: pull request" in shown.out
    assert "\nagent calls\n" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agent", "sim:right", "--split", "fresh"), "has a fixed set of tasks"),
        (("--agent", "sim:right", "--kind", "merge"), "there is no kind 'merge'"),
        (("--agent", "sim:right", "--port", "0"), "--port 0 requires --serve"),
        (("--agent", "sim:rigth"), "did you mean 'sim:right'"),
        (("--agent", "sim:right", "--tools", "plian"), "did you mean 'plain'"),
        (("--agent", "sim:right", "--domain", "Art"), "No such option"),
        (
            ("--serve", "--port", "abc"),
            "--port  invalid value 'abc'\n  expected a whole number from 0 to 65,535",
        ),
        (
            ("--serve", "--port", "65536"),
            "--port  invalid value '65536'\n  expected a whole number from 0 to",
        ),
        (("--serve", "--port", "-1"), "--port  invalid value '-1'"),
        (("--serve", "--agent", "sim:right"), "--agent can't be combined with --serve\n  omit it"),
        (
            ("--serve", "--count", "3", "--tools", "plain"),
            "--tools and --count can't be combined with --serve",
        ),
        (("--serve", "-A", "x=1"), "--agent-arg can't be combined with --serve"),
        (("--serve", "--no-allow-network"), "--allow-network can't be combined with --serve"),
    ],
)
def test_what_is_typed_wrong_is_told(misstep: Command, arguments: tuple[str, ...], said: str) -> None:
    printed = misstep("bench", "forge", *arguments)
    assert printed.code == 2
    assert said.casefold() in printed.err.casefold()


def test_the_help_offers_what_there_is(misstep: Command) -> None:
    assert "fresh" not in misstep("bench", "forge", "--help").out


def test_it_can_be_left_running(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misstep", "bench", "forge", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            told = dict(served.stdout.readline().split(maxsplit=1) for _ in range(4))
            clone = [*told["repository"].split(), str(tmp_path / "copy")]
            subprocess.run(
                clone, check=True, capture_output=True, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}
            )
            served.send_signal(signal.SIGINT)
            assert served.wait(20) == 0
        finally:
            served.kill()
    assert (tmp_path / "copy" / "README.md").exists()


def serving(temporary: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "misstep", "bench", "forge", "--serve", *more]
    around = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=around,
        cwd=temporary.parent,
    )


def told(served: "subprocess.Popen[str]") -> dict[str, str]:
    assert served.stdout is not None
    found: dict[str, str] = json.loads(served.stdout.readline())
    return found


def test_it_tells_programs_where_it_is_and_what_is_killed_is_swept_away(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with serving(temporary, "--json") as killed:
        found = told(killed)
        assert found.keys() == {"url", "repository", "clone_url", "token", "read_token"}
        asked = Request(f"{found['url']}/repos/{found['repository']}")
        with urlopen(asked) as answer:
            assert json.load(answer)["full_name"] == found["repository"]
        killed.kill()
    assert len(list(temporary.iterdir())) == 1
    with serving(temporary, "--json") as served:
        told(served)
        assert len(list(temporary.iterdir())) == 1
        served.send_signal(signal.SIGINT)
        assert served.wait(20) == 0
        assert served.stdout is not None
        assert served.stdout.read() == "", "one object, and nothing else"
    assert list(temporary.iterdir()) == []
