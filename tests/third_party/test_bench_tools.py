"""Tasks of benchmarks done with tools that nobody here wrote."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.benchmarks.forge.tasks import forge_tasks, goal_of
from misstep.core.settings import Settings
from misstep.features.bench.run import run_benchmark
from tests.benchmarks.forge.test_tools import LOOKS, with_langchain
from tests.features.bench.run.few_tasks import TASKS, run, solution_of
from tests.scripted import Call, Script, ScriptedServer, calling
from tests.third_party.test_others_tools import PYTHON, SERVERS, needs_node, needs_tools
from tests.tool_host.trying import needs_bubblewrap

pytestmark = pytest.mark.full

MOVE = next(task for task in TASKS if task.kind == "move")


def moves() -> list[tuple[str, str]]:
    steps = [step.arguments for step in solution_of(MOVE.request).steps if step.tool == "move"]
    return [(step["source"], step["destination"]) for step in steps]


def done_by(calls: Sequence[Call]) -> Script:
    return Script(plan=lambda *_: calls, answer="Done.")


@needs_tools
@needs_bubblewrap
def test_langchain_file_tools(tmp_path: Path) -> None:
    calls = [calling("move_file", source_path=old, destination_path=new) for old, new in moves()]
    report = run(
        tmp_path,
        "langchain",
        script=done_by(calls),
        kinds=("move",),
        count=1,
        python=PYTHON,
        sandbox="bubblewrap",
    )
    assert report.tasks[0].why == ()
    assert report.calls == len(calls)


@needs_node
@needs_bubblewrap
def test_a_filesystem_server(tmp_path: Path) -> None:
    folders = dict.fromkeys(str(Path(new).parent) for _, new in moves())
    calls = [
        *[calling("create_directory", path=folder) for folder in folders],
        *[calling("move_file", source=old, destination=new) for old, new in moves()],
    ]
    command = f"mcp:node {SERVERS / 'server-filesystem' / 'dist' / 'index.js'} ."
    more = {"kinds": ("move",), "count": 2, "sandbox": "bubblewrap"}
    first, second = run(tmp_path, command, script=done_by(calls), **more).tasks
    assert first.why == ()
    assert (second.verdict, second.calls) == ("failed", len(calls)), (
        "each task is laid before the server starts"
    )


def on_the_forge(prompt: str, tools: list[str]) -> list[Call]:
    """The calls of LangChain's toolkit that do the task which somebody asks for in these words."""
    (task,) = [task for task in forge_tasks() if task.request in prompt]
    return [calling(name, **given) for name, given in with_langchain(goal_of(task))]


@needs_tools
def test_langchain_github_tools(tmp_path: Path) -> None:
    """Names of these tools have blanks, which only an agent that works with texts can call."""
    if subprocess.run([PYTHON, "-c", LOOKS], check=False).returncode:
        pytest.skip(f"PyGithub or langchain-community is not installed in {PYTHON}")
    with ScriptedServer(Script(plan=on_the_forge, find_request=lambda prompt: prompt)) as server:
        model = {"agent": "react", "model": "x", "model_base_url": server.base_url, "retries": 0}
        place = {"store": str(tmp_path / "store.db"), "sandbox": "none", "python": PYTHON}
        settings = Settings(**model, **place, split="validation", timeout=60.0, jobs=1)
        report = run_benchmark("forge", settings, ("langchain",))
    assert {task.name: task.why for task in report.tasks if task.why} == {}
    assert (report.rate.passed, len(report.by_kind)) == (13, 6)
    assert report.specs == ("misstep.benchmarks.forge.toolkit:github_tools()",)
