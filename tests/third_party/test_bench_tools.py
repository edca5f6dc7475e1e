"""Tasks on files done with tools that nobody here wrote."""

from collections.abc import Sequence
from pathlib import Path

from tests.api.benchmarking.contests import TASKS, run, solution_of
from tests.scripted import Call, Script, calling
from tests.third_party.test_others_tools import PYTHON, SERVERS, needs_node, needs_tools
from tests.workshop.trying import needs_bubblewrap

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
