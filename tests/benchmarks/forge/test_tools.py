"""Tools that agents are given: our own plain ones, and LangChain's toolkit."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.spec import tools_from
from misstep.benchmarks.forge import tools
from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.tasks import Goal, forge_tasks, goal_of, initial_state, judge_forge
from misstep.benchmarks.forge.tools import ForgeError
from tests.conformance.subject_subprocess import find_python

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PYTHON = find_python("TEST_TOOLS_PYTHON", ".venv-tools")
LOOKS = "import importlib.util as u, sys; sys.exit(not (u.find_spec('github') and u.find_spec('langchain_community')))"


def test_our_own_are_read_as_tools() -> None:
    found = tools_from("misstep.benchmarks.forge.tools:TOOLS")
    assert [tool.name for tool in found] == [function.__name__ for function in tools.TOOLS]
    for tool in found:
        assert tool.description
        for name, parameter in tool.parameters["properties"].items():
            assert parameter["description"], (tool.name, name)


def test_reading(forge: Forge) -> None:
    assert tools.list_issues()[0] == {
        "number": 16,
        "title": "Colours are hard to read on a white terminal",
        "state": "open",
        "author": "mara-lindqvist",
    }
    assert len(tools.list_issues("all")) == 14
    assert tools.read_issue(6)["comments"] == [
        {"author": "tobias-okafor", "body": "Could you attach your garden.json?"}
    ]
    assert [issue["number"] for issue in tools.search_issues("equator")] == [4]
    assert tools.list_branches() == sorted(initial_state().branches)
    assert tools.list_files("herbs") == sorted(initial_state().branches["herbs"].files)
    assert tools.read_file("src/seedling/data/größen.csv", "herbs").endswith("chives,30\n")
    assert [pull["head"] for pull in tools.list_pull_requests()] == ["docs-refresh", "frost-dates"]
    assert "src/seedling/frost.py" in tools.read_pull_request(7)["files"]
    assert forge.state() == initial_state()


def test_what_the_forge_refuses_is_said(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: tools.read_issue(99), "404 Not Found"),
        (lambda: tools.comment_on_issue(3, ""), "422 Validation Failed; body: missing_field"),
        (lambda: tools.create_branch("main"), "422 Reference already exists"),
        (lambda: tools.create_file("README.md", "x", "main"), '"sha" wasn\'t supplied'),
        (lambda: tools.delete_file("nope", "main"), "404 Not Found"),
        (lambda: tools.create_pull_request("t", "b", "main"), "No commits between main and main"),
    ]
    for call, words in refused:
        with pytest.raises(ForgeError, match=words):
            call()
    with pytest.raises(IsADirectoryError, match="'docs' is a folder"):
        tools.read_file("docs")
    monkeypatch.delenv("MISSTEP_FORGE_URL")
    with pytest.raises(ForgeError, match="MISSTEP_FORGE_URL is not set"):
        tools.list_branches()


class Worker:
    """LangChain's tools, in a process of their own."""

    def __init__(self, forge: Forge) -> None:
        self._process = subprocess.Popen(
            [PYTHON, str(HERE / "langchain_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **forge.environment, "PYTHONPATH": str(ROOT / "src")},
        )
        self.names = self._read()

    def call(self, name: str, **given: Any) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([name, given]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def worker(forge: Forge) -> Iterator[Worker]:
    if not PYTHON:
        pytest.skip("LangChain's tools need TEST_TOOLS_PYTHON or .venv-tools")
    if subprocess.run([PYTHON, "-c", LOOKS], check=False).returncode:
        pytest.skip(f"PyGithub or langchain-community is not installed in {PYTHON}")
    found = Worker(forge)
    yield found
    found.close()


@pytest.mark.full
def test_langchain(worker: Worker, forge: Forge) -> None:
    """Both in one process: it takes long to begin."""
    assert len(worker.names) == 21
    _does_tasks_of_every_kind(worker, forge)
    forge.reset()
    worker.call("start over")
    _reads_everything(worker)


def _does_tasks_of_every_kind(worker: Worker, forge: Forge) -> None:
    for task in forge_tasks():
        if task.split == "validation":
            forge.reset()
            worker.call("start over")
            for name, given in with_langchain(goal_of(task)):
                worker.call(name, **given)
            assert judge_forge(task, forge.state()) == ("passed", ()), task


def with_langchain(goal: Goal) -> Iterator[tuple[str, dict[str, Any]]]:
    if goal.start:
        yield "Create a new branch", {"branch_name": goal.branch}
    elif goal.branch or goal.head:
        yield "Set active branch", {"branch_name": goal.branch or goal.head}
    match goal.kind:
        case "comment-on-issue":
            yield "Comment on Issue", {"input": f"{goal.issue}\n\n{goal.body}"}
        case "create-pull-request":
            yield "Create Pull Request", {"formatted_pr": f"{goal.title}\n\n{goal.body}"}
        case "create-file":
            yield "Create File", {"formatted_file": f"{goal.path}\n\n{goal.content}"}
        case "delete-file":
            yield "Delete File", {"formatted_filepath": goal.path}
        case "update-file":
            change = f"OLD <<<<\n{goal.old}\n>>>> OLD\nNEW <<<<\n{goal.new}\n>>>> NEW"
            yield "Update File", {"formatted_file_update": f"{goal.path}\n{change}"}


def _reads_everything(worker: Worker) -> None:
    assert "Found 12 issues" in worker.call("Get Issues")
    assert "Could you attach" in worker.call("Get Issue", issue_number=6)
    assert "Found 2 pull requests" in worker.call("List open pull requests (PRs)")
    assert "Last frost dates by zone" in worker.call("Get Pull Request", pr_number=7)
    files = json.loads(worker.call("List Pull Requests' Files", pr_number=7))
    assert [file["additions"] for file in files] == [1, 2, 5, 5]
    assert json.loads(worker.call("Overview of files included in PR", pr_number=7)) == files
    assert "frost-dates" in worker.call("List branches in this repository")
    assert "docs/zones.md" in worker.call("Overview of existing files in Main branch")
    assert "Switched to branch" in worker.call("Set active branch", branch_name="docs-refresh")
    assert "docs/draft notes.md" in worker.call("Overview of files in current working branch")
    assert "docs/pictures/README.md" in worker.call("Get files from a directory", input="docs")
    assert "# Glossary" in worker.call("Read File", formatted_filepath="docs/glossary.md")
    assert "Number: 4" in worker.call("Search issues and pull requests", search_query="equator")
    assert "def weeks_until" in worker.call("Search code", search_query="weeks_until")
    assert "Review request created" in worker.call("Create review request", username="mara-lindqvist")
    assert "Unable to delete file" in worker.call("Delete File", formatted_filepath="nope")
