"""The official conformance suite against `misstep mcp serve` and our client; each failure has its reason."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from tests.adapters.mcp.cases import CASE, ROOT
from tests.adapters.mcp.expected_failures import NOT_RUN, SERVER
from tests.processes import drain

pytestmark = pytest.mark.full

MODULES = ROOT / ".venv-conformance" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE = next((path for path in MODULES.glob("node-*/bin/node") if path.exists()), shutil.which("node"))
CLIENT_COMMAND = f"{sys.executable} -m tests.adapters.mcp.conformance_client"
# Scenarios run in one revision; these also in others.
CLIENT_RUNS = [("tools_call", "2025-06-18"), ("tools_call", "2026-07-28")]
PASSED = "OVERALL: PASSED"
TIMEOUT = "120000"  # milliseconds for one scenario
PATIENCE = 900.0  # seconds for all that the suite runs at once
SIMPLE = "test_simple_text"  # a tool that the suite calls

needs_suite = pytest.mark.skipif(
    not (SUITE.exists() and NODE), reason="the suite needs .venv-conformance and Node 22"
)


def suite(*arguments: str) -> str:
    command = [str(NODE), str(SUITE), *arguments]
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    out, err = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(
        command, env=variables, cwd=ROOT, stdout=out, stderr=err, text=True, check=False, timeout=PATIENCE
    ).stdout


def failures(folder: Path) -> dict[str, set[str]]:
    """The failed checks of each scenario that has any."""
    found = dict[str, set[str]]()
    for path in folder.rglob("checks.json"):
        named = path.parent.relative_to(folder).as_posix().removeprefix("server-")
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[^/]*$", "", named)
        failed = {check["id"] for check in json.loads(path.read_text()) if check["status"] == "FAILURE"}
        if failed:
            found.setdefault(scenario, set()).update(failed)
    return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The URL of a case, one of whose tools has the name that the suite expects."""
    text = msgspec.json.encode(CASE).decode().replace(CASE.actions[0].tool, SIMPLE)
    (tmp_path / "cases.jsonl").write_text(text)
    command = [sys.executable, "-m", "misstep", "mcp", "serve", CASE.id, "--cases", "cases.jsonl", "--http"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            url = next(line.strip() for line in process.stderr if line.startswith("http"))
            drain(process.stderr)
            yield url
        finally:
            process.kill()


@needs_suite
def test_mcp_serve(served: str, tmp_path: Path) -> None:
    told = suite("server", "--url", served, "--suite", "all", "--output-dir", str(tmp_path / "out"))
    assert "=== SUMMARY ===" in told
    expected = [(name, set(checks)) for failed in SERVER.values() for name, checks in failed.items()]
    assert failures(tmp_path / "out") == dict(expected)


@needs_suite
def test_our_client(tmp_path: Path) -> None:
    listed = re.findall(r"^ +- (\S+)", suite("list", "--client"), re.MULTILINE)
    runs = [(name, "") for name in listed if not name.startswith(tuple(NOT_RUN))]

    def run(place: int, scenario: str, revision: str) -> str:
        options = ["--output-dir", str(tmp_path / str(place)), "--scenario", scenario, "--timeout", TIMEOUT]
        options += ["--spec-version", revision] if revision else []
        return suite("client", "--command", CLIENT_COMMAND, *options)

    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(run, count(), *zip(*runs, *CLIENT_RUNS, strict=True)))
    assert len(told) > 10
    failed = {run: text for run, text in zip([*runs, *CLIENT_RUNS], told, strict=True) if PASSED not in text}
    assert failed == {}
