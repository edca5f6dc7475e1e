"""Tools that nobody here wrote: what is wrong with them is found, and nothing is made up."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.subject_subprocess import find_python
from tests.third_party import expectations
from tests.third_party.fuzzed import fuzz, missed, told

pytestmark = pytest.mark.full

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PYTHON = find_python("TEST_TOOLS_PYTHON", ".venv-tools")
OLD_PYTHON = find_python("TEST_MCP1_PYTHON", ".venv-mcp1")
SERVERS = ROOT / ".venv-servers" / "node_modules" / "@modelcontextprotocol"
TAKES_LONG = ("hang", "blow-up")  # that a program or a pattern can be made to take long is no news
IDENTITY = {
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "e",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "e",
}


def needs_module(python: str, name: str) -> pytest.MarkDecorator:
    """Skips, with the reason, where a server that is a module of Python is not installed."""
    looks = f"import importlib.util as u, sys; sys.exit(u.find_spec({name!r}) is None)"
    found = bool(python) and subprocess.run([python, "-c", looks], check=False).returncode == 0
    return pytest.mark.skipif(not found, reason=f"{name} is not installed in {python or 'any environment'}")


needs_tools = pytest.mark.skipif(not PYTHON, reason="LangChain's tools need TEST_TOOLS_PYTHON or .venv-tools")
needs_node = pytest.mark.skipif(
    not (SERVERS.exists() and shutil.which("node")), reason="servers for Node need node and .venv-servers"
)


@needs_tools
def test_langchain_file_tools(tmp_path: Path) -> None:
    report = fuzz(
        tmp_path, "langchain_files", python=PYTHON, only=tuple(expectations.FILES), calls_per_tool=250
    )
    assert missed(report, expectations.FILES) == {}
    # Ends of lines that are written as "\\r\\n" are read as "\\n".
    (changed,) = [finding for finding in report.findings if finding.kind != "crash"]
    assert (changed.tool, changed.kind, changed.error) == ("read_file", "contract", "read back")
    crashes = {finding.error for finding in report.findings if finding.kind == "crash"}
    assert crashes <= set().union(*expectations.FILES.values())
    # Three tools share one check of paths, which three kinds of paths break; the others are one tool's own.
    shared = [cause for cause in report.causes if len(cause.findings) == len(expectations.FILES)]
    assert len(shared) == len(expectations.FILES["read_file"])
    assert len(report.causes) == len(shared) + 2


@needs_tools
def test_langchain_requests_tools(tmp_path: Path) -> None:
    report = fuzz(
        tmp_path, "langchain_requests", python=PYTHON, only=tuple(expectations.REQUESTS), calls_per_tool=120
    )
    assert missed(report, expectations.REQUESTS) == {}
    known = expectations.MORE_REQUESTS.union(*expectations.REQUESTS.values())
    assert [each for each in told(report.findings) if each[2] not in known] == []


@needs_tools
def test_langchain_json_tools(tmp_path: Path) -> None:
    report = fuzz(tmp_path, "langchain_json", python=PYTHON, calls_per_tool=150)
    assert {finding.tool for finding in report.findings} == expectations.JSON_TOOLS
    assert [each for each in told(report.findings) if each[2] not in expectations.JSON] == []


@needs_tools
def test_shell_and_python_answer_and_do_no_harm(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("alive")
    before = sorted(os.listdir(ROOT))
    report = fuzz(tmp_path, "langchain_shell", python=PYTHON, calls_per_tool=100, time_per_tool=15.0)
    assert canary.read_text() == "alive"
    assert sorted(os.listdir(ROOT)) == before
    wrong = [
        each
        for each in told(report.findings)
        if each[1] not in TAKES_LONG and each[2] not in expectations.RUNS_CODE
    ]
    # Errors of the code that it was given are what an interpreter has to tell. The shell passes over its own:
    # it gives None for a text.
    assert {each[:3] for each in wrong} == {("terminal", "schema", "type hint")}


@needs_module(PYTHON, "mcp_server_git")
def test_git_server(tmp_path: Path) -> None:
    command = f"mcp:{PYTHON} -m mcp_server_git --repository ."
    folder = _repository(tmp_path / "repository")
    report = fuzz(tmp_path, command, only=expectations.GIT_TOOLS, workspace=str(folder), calls_per_tool=60)
    for error, words in expectations.GIT_SAYS.items():
        told = [each for each in report.findings if each.error == error and words in each.message]
        assert {finding.tool for finding in told} == set(expectations.GIT_TOOLS)
    assert {finding.kind for finding in report.findings} == {"crash"}


@needs_module(PYTHON, "mcp_server_time")
def test_time_server_refuses_in_words(tmp_path: Path) -> None:
    report = fuzz(tmp_path, f"mcp:{PYTHON} -m mcp_server_time --local-timezone UTC", calls_per_tool=40)
    assert told(report.findings) == []
    assert all(tool.refused for tool in report.tools)


@needs_module(OLD_PYTHON, "mcp_server_calculator")
def test_calculator_server(tmp_path: Path) -> None:
    report = fuzz(tmp_path, f"mcp:{OLD_PYTHON} -m mcp_server_calculator", calls_per_tool=40)
    # What an expression raises is its answer: 1/0, sqrt(-1), a syntax error.
    assert {finding.kind for finding in report.findings} <= {*TAKES_LONG}
    assert any("invalid syntax" in each.message for tool in report.tools for each in tool.refusals)


@needs_module(OLD_PYTHON, "mcp_server_sqlite")
def test_sqlite_server_reports_errors_as_results_and_does_not_commit_replace(tmp_path: Path) -> None:
    program = Path(OLD_PYTHON).with_name("mcp-server-sqlite")
    report = fuzz(tmp_path, f"mcp:{program} --db-path shop.db", calls_per_tool=60, time_per_tool=240.0)
    found = [finding for finding in report.findings if finding.kind not in TAKES_LONG]
    assert {(finding.kind, finding.error) for finding in found} == {
        ("contract", "error flag"),  # also for a tool that is not listed
        ("contract", "read back"),
        ("contract", "cancellation"),  # it ends the server, with the SDK that this needs
    }
    assert len({finding.cause for finding in found}) == 3
    (lost,) = (finding for finding in found if finding.error == "read back")
    assert any("REPLACE INTO" in call.arguments for call in lost.calls)


@needs_node
def test_filesystem_server(tmp_path: Path) -> None:
    folder = _repository(tmp_path / "repository")
    command = f"mcp:node {SERVERS / 'server-filesystem' / 'dist' / 'index.js'} ."
    only = expectations.FILESYSTEM_TOOLS
    report = fuzz(tmp_path, command, only=only, workspace=str(folder), calls_per_tool=30)
    assert told(report.findings) == []  # what Node says about a path is a refusal


@needs_node
def test_memory_server(tmp_path: Path) -> None:
    program = SERVERS / "server-memory" / "dist" / "index.js"
    command = f"mcp:sh -c 'MEMORY_FILE_PATH=$PWD/memory.jsonl exec node {program}'"
    report = fuzz(tmp_path, command, only=expectations.MEMORY_TOOLS, calls_per_tool=40)
    # It reads, changes and writes its whole file without a lock: of two changes at once, one may be lost.
    assert {(finding.kind, finding.error) for finding in report.findings} <= {("contract", "concurrency")}


@needs_node
def test_everything_server(tmp_path: Path) -> None:
    program = SERVERS / "server-everything" / "dist" / "index.js"
    report = fuzz(
        tmp_path, f"mcp:node {program} stdio", only=expectations.EVERYTHING_TOOLS, calls_per_tool=40
    )
    assert told(report.findings) == []


def _repository(folder: Path) -> Path:
    """A folder with a few files in two commits."""
    folder.mkdir()
    (folder / "readme.txt").write_text("Hello\n")
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("print('hello')\n")
    git = ["git", "-c", "init.defaultBranch=main"]
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["commit", "--quiet", "-m", "first"],
        ["branch", "feature"],
    ):
        subprocess.run([*git, *words], cwd=folder, check=True, env={**os.environ, **IDENTITY})
    return folder
