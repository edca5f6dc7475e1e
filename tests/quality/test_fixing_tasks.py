"""Documentation that misleads a reader on tasks of a benchmark is mended, and proved to be better on others."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from misstep.benchmarks.files.suite import public_tasks
from misstep.benchmarks.forge.tasks import forge_tasks, solution
from misstep.core.results.benchmark import Solution, Task
from misstep.features.bench.suites import FileBenchmark
from tests.conftest import Command, misstep
from tests.fuzzing.agent_tests.scripted_roles import Answer, plays
from tests.quality.test_fixing import SHORT, propose, words
from tests.scripted import Call, ScriptedServer, calling

__all__ = ["misstep"]

FILES = '''
"""Tools for files, one of them badly described."""

from misstep.benchmarks.files import tools as plain


def move(source: str, destination: str) -> str:
    """Move something.

    Args:
        source: What to move.
        destination: Where to.
    """
    return plain.move(source, destination)


tools = [plain.list_folder, plain.make_folder, move]
'''
FORGE = '''
"""Tools for a forge, one of them badly described."""

from misstep.benchmarks.forge import tools as plain


def comment_on_issue(number: int, body: str) -> str:
    """Comment on an issue."""
    return plain.comment_on_issue(number, body)


tools = [comment_on_issue, plain.list_issues]
'''

Arguments = Mapping[str, Any]
Read = Callable[[str, Arguments], Arguments]  # what an agent makes of what it should do, by what it is told


class Reader:
    """A model that knows how tasks are done, but takes tools to be what their documentation says."""

    def __init__(
        self, tasks: Sequence[Task], solve: Callable[[Task], Solution], read: Read, say: Answer
    ) -> None:
        self._tasks = tasks
        self._solve = solve
        self._read = read
        self.server = ScriptedServer(plays({"fix-description": say}, self._plan, lambda _: "Done."))

    def _plan(self, request: str, _: list[str]) -> Sequence[Call]:
        (task,) = [each for each in self._tasks if each.request in request]
        told = {each["function"]["name"]: json.dumps(each) for each in self.server.requests[-1].body["tools"]}
        return [
            calling(step.tool, **self._read(told[step.tool], step.arguments))
            for step in self._solve(task).steps
            if step.tool in told
        ]


def move_as_told(told: str, arguments: Arguments) -> Arguments:
    """The folder is given as the place to go, unless it is said that the name belongs to it."""
    if "destination" not in arguments or "new name included" in told:
        return arguments
    return {**arguments, "destination": os.path.dirname(arguments["destination"]) or "."}


def comment_as_told(told: str, arguments: Arguments) -> Arguments:
    """Comments get a signature, unless it is said that nothing may be added."""
    if "body" not in arguments or "Add nothing" in told:
        return arguments
    return {**arguments, "body": f"{arguments['body']}\n\nYour assistant"}


USELESS = words("Move a thing to another place.", destination="Where the thing goes.")
RIGHT = words("Move a file.", destination="The full new path, its new name included.")
EXACT = words("Comment on an issue.", body="The whole comment. Add nothing to it.")


def on_files(say: Answer) -> Reader:
    tasks = public_tasks()
    return Reader(tasks, FileBenchmark(tasks).solve, move_as_told, say)


def on_forge(say: Answer) -> Reader:
    return Reader(forge_tasks(), solution, comment_as_told, say)


def fixed(misstep: Command, server: ScriptedServer, *more: str) -> tuple[int, dict[str, Any], str]:
    model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, *SHORT)
    given = ("--strategy", "description", "--count", "2", "--max-steps", "20", "--write", "--json", *more)
    printed = misstep("tool", "fix", "mine.py:tools", *model, *given)
    assert printed.out, printed.err
    (one,) = json.loads(printed.out)["tools"]
    return printed.code, one, printed.err


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


def test_words_that_help_on_files_are_found_and_written(mine: Path, misstep: Command) -> None:
    mine.write_text(FILES)
    with on_files(propose(USELESS, RIGHT)).server as server:
        more = ("--bench", "files", "--kind", "move", "--only", "move", "--candidates", "2")
        code, one, said = fixed(misstep, server, *more)
    assert (code, one["chosen"], f"written to {mine}" in said) == (0, 2, True)
    assert [each["validation"]["passed"] for each in one["candidates"]] == [0, 2]
    assert [one[when]["passed"] for when in ("before", "after")] == [0, 2]
    assert len(one["gained"]) == 2
    anew = FILES.replace("Move something.", "Move a file.")
    assert mine.read_text() == anew.replace("Where to.", "The full new path, its new name included.")


@pytest.mark.full
def test_words_that_help_on_a_forge_are_found_and_written(mine: Path, misstep: Command) -> None:
    mine.write_text(FORGE)
    with on_forge(propose(EXACT)).server as server:
        more = ("--bench", "forge", "--kind", "comment-on-issue", "--only", "comment_on_issue")
        code, one, _ = fixed(misstep, server, *more, "--candidates", "1")
    assert (code, one["chosen"]) == (0, 1)
    assert [one[when]["passed"] for when in ("before", "after")] == [0, 2]
    assert "body: The whole comment. Add nothing to it." in mine.read_text()


@pytest.mark.full
@pytest.mark.parametrize("bench", ["files", "forge"])
def test_words_that_do_not_help_are_not_written(mine: Path, misstep: Command, bench: str) -> None:
    source = FILES if bench == "files" else FORGE
    mine.write_text(source)
    tool, kind = ("move", "move") if bench == "files" else ("comment_on_issue", "comment-on-issue")
    say = propose(USELESS if bench == "files" else words("Comment on it."))
    with (on_files(say) if bench == "files" else on_forge(say)).server as server:
        more = ("--bench", bench, "--kind", kind, "--only", tool, "--candidates", "1", "--out", "new.toml")
        code, one, said = fixed(misstep, server, *more)
    assert (code, one["chosen"], one["better"], one["diff"]) == (1, None, False, "")
    assert (one["validation"]["passed"], one["validation"]["judged"]) == (0, 2)
    assert "nothing was written" in said
    assert mine.read_text() == source
    assert not mine.with_name("new.toml").exists()
