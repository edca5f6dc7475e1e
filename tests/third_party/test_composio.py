"""Composio's local actions: read, called and fuzzed without its service, its key or a network."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.conformance.subject_subprocess import find_python
from tests.third_party import expectations
from tests.third_party.fuzzed import fuzz, missed, told
from tests.tool_host.trying import react

PYTHON = find_python("TEST_COMPOSIO_PYTHON", ".venv-composio")
ACTIONS = f"{Path(__file__).with_name('composio_actions.py')}:tools"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not PYTHON, reason="Composio needs TEST_COMPOSIO_PYTHON or .venv-composio"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is needed: one action is a shell"),
]


@pytest.fixture(scope="module")
def bench() -> Iterator[ToolHost]:
    with ToolHost(ACTIONS, CallConditions(shelter="bubblewrap", python=PYTHON)) as bench:
        yield bench


def test_actions_are_listed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misstep", "tool", "list", ACTIONS, "--python", PYTHON, "--json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    entries = {entry["tool"]["name"]: entry for entry in json.loads(ran.stdout)["tools"]}
    assert {entry["kind"] for entry in entries.values()} == {"composio"}
    assert set(entries) > {*expectations.COMPOSIO, *expectations.COMPOSIO_IS_CAREFUL}
    schema = entries["SQLTOOL_SQL_QUERY"]["tool"]["parameters"]
    assert set(schema["properties"]) == set(schema["required"]) == {"query", "connection_string"}


@pytest.mark.parametrize(
    ("action", "arguments", "answer"),
    [
        ("MATHEMATICAL_CALCULATOR", {"operation": "6 * 7"}, '"result": "42"'),
        ("FILETOOL_OPEN_FILE", {"file_path": "notes.txt"}, "1:buy milk"),
        ("FILETOOL_SEARCH_WORD", {"word": "milk"}, '{"notes.txt": [[1, "buy milk"]]}'),
        (
            "SQLTOOL_SQL_QUERY",
            {"query": "SELECT name FROM sqlite_master", "connection_string": "shop.db"},
            '[["items"]]',
        ),
        ("SHELLTOOL_EXEC_COMMAND", {"cmd": "cat notes.txt"}, '"stdout": "buy milk'),
    ],
)
def test_actions_find_files_and_shells_to_work_with(
    bench: ToolHost, action: str, arguments: dict[str, Any], answer: str
) -> None:
    reaction = react(bench, action, **arguments)
    assert reaction.ended == "returned", reaction
    assert answer in reaction.text


def test_actions_share_what_they_work_with(bench: ToolHost) -> None:
    bench.reset()
    assert "No open file" in react(bench, "FILETOOL_SCROLL").text
    assert react(bench, "FILETOOL_OPEN_FILE", file_path="notes.txt").ended == "returned"
    assert "Scroll successful" in react(bench, "FILETOOL_SCROLL").text


def test_what_is_wrong_with_actions_is_found(tmp_path: Path) -> None:
    only = (*expectations.COMPOSIO, *expectations.COMPOSIO_IS_CAREFUL)
    report = fuzz(tmp_path, "composio_actions", python=PYTHON, only=only, calls_per_tool=30)
    assert missed(report, expectations.COMPOSIO) == {}
    assert {finding.tool for finding in report.findings} == set(expectations.COMPOSIO)
    known = set().union(*expectations.COMPOSIO.values())
    assert [each for each in told(report.findings) if each[1] != "crash" or each[2] not in known] == []
