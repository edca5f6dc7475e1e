"""Judges forge tasks by the resulting state, not by the reply; also their solutions in tool calls."""

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import structs

from misstep.benchmarks.forge.forge import survey
from misstep.benchmarks.forge.ledger import ForgeRecords, our_project
from misstep.benchmarks.forge.repository.repository import Repository, seed
from misstep.benchmarks.forge.state import Branch, Comment, IssueThread, PullProposal, State, differences
from misstep.benchmarks.forge.tasks import Goal, goal_of
from misstep.benchmarks.tree import Content, File
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Solution, Task, TaskStep
from misstep.errors import InternalError


@cache
def initial_state() -> State:
    """The state of a new forge."""
    project = our_project()
    with tempfile.TemporaryDirectory(prefix="misstep-forge-") as folder:
        seed(Path(folder), project)
        repository = Repository(Path(folder))
        try:
            return survey(repository, ForgeRecords(project))
        finally:
            repository.close()


def expected_state(task: Task) -> State:
    """The state if the task is done and nothing else is."""
    goal, state = goal_of(task), initial_state()
    match goal.kind:
        case "comment-on-issue":
            thread = state.threads[goal.issue]
            said = Comment(our_project().account, goal.body)
            return _with_thread(state, structs.replace(thread, comments=(*thread.comments, said)))
        case "create-pull-request":
            proposal = PullProposal(goal.head, goal.base)
            number = max(state.threads) + 1
            return _with_thread(
                state, IssueThread(number, goal.title, goal.body, our_project().account, pull=proposal)
            )
        case "create-branch":
            return _with_branch(state, goal.branch, state.branches[goal.start])
        case _:
            start = state.branches[goal.start or goal.branch]
            files = _changed(goal, start.files)
            branch = Branch(files, executable=start.executable, follows=start.tip)
            return _with_branch(state, goal.branch, branch)


def judge_forge(task: Task, found: State, said: str = "") -> tuple[Judgement, tuple[str, ...]]:
    """Passed or failed, and the differences from the expected state.

    Everything has to be equal, with one exception: line breaks at the end of a text that the task asks for (a
    file, a comment or a description) don't count, since requests can't specify them. The agent's reply is
    ignored.
    """
    del said
    expected = expected_state(task)
    why = differences(expected, _settled(found, expected, goal_of(task)), initial_state())
    return ("failed" if why else "passed"), why


def _changed(goal: Goal, files: Mapping[str, Content]) -> dict[str, Content]:
    others = {path: content for path, content in files.items() if path != goal.path}
    if goal.kind == "delete-file":
        return others
    if goal.kind == "create-file":
        return others | {goal.path: File(goal.content.encode())}
    before = files[goal.path]
    if not isinstance(before, File) or before.data.count(goal.old.encode()) != 1:
        raise InternalError(f"{goal.old!r} is not to be found just once in {goal.path}")
    return others | {goal.path: File(before.data.replace(goal.old.encode(), goal.new.encode()))}


def _with_branch(state: State, name: str, branch: Branch) -> State:
    return structs.replace(state, branches={**state.branches, name: branch})


def _with_thread(state: State, thread: IssueThread) -> State:
    return structs.replace(state, threads={**state.threads, thread.number: thread})


def _settled(found: State, expected: State, goal: Goal) -> State:
    """The state found, with differences that don't count removed."""
    branch = found.branches.get(goal.branch)
    if branch and goal.path in branch.files:
        right = expected.branches[goal.branch].files.get(goal.path)
        content = _alike(branch.files[goal.path], right)
        changed = structs.replace(branch, files={**branch.files, goal.path: content})
        return _with_branch(found, goal.branch, changed)
    number = goal.issue or max(expected.threads)
    if goal.body and number in found.threads:
        return _with_thread(found, _settled_thread(found.threads[number], goal))
    return found


def _alike(content: Content, right: Content | None) -> Content:
    if isinstance(content, File) and isinstance(right, File):
        same = content.data.rstrip(b"\r\n") == right.data.rstrip(b"\r\n")
        return right if same else content
    return content


def _settled_thread(found: IssueThread, goal: Goal) -> IssueThread:
    """The thread with the requested comment or description normalised, if it is there."""

    def settled(text: str) -> str:
        return goal.body if text.rstrip("\r\n") == goal.body.rstrip("\r\n") else text

    if goal.issue:
        before = len(initial_state().threads[goal.issue].comments)
        new = [structs.replace(each, body=settled(each.body)) for each in found.comments[before:]]
        return structs.replace(found, comments=(*found.comments[:before], *new))
    return structs.replace(found, body=settled(found.body))


# Unrequested changes; each task has one of them.
_DAMAGE = (
    TaskStep("comment_on_issue", {"number": 13, "body": "Done."}),
    TaskStep("create_branch", {"name": "leftover", "start": "main"}),
    TaskStep("delete_file", {"path": "LICENSE", "branch": "export-ics"}),
    TaskStep("create_file", {"path": "notes.txt", "content": "what I did\n", "branch": "main"}),
    TaskStep("update_file", {"path": "docs/index.md", "content": "# Documentation\n", "branch": "main"}),
)


def solution(task: Task) -> Solution:
    """Calls of the tools in `misstep.benchmarks.forge.tools` that do it."""
    goal = goal_of(task)
    return Solution(tuple(_steps(task, goal)), _DAMAGE[task.seed % len(_DAMAGE)], "Done.")


def _steps(task: Task, goal: Goal) -> list[TaskStep]:
    if goal.kind == "comment-on-issue":
        return [TaskStep("comment_on_issue", {"number": goal.issue, "body": goal.body})]
    if goal.kind == "create-pull-request":
        given = {"title": goal.title, "body": goal.body, "head": goal.head, "base": goal.base}
        return [TaskStep("create_pull_request", given)]
    begin = [TaskStep("create_branch", {"name": goal.branch, "start": goal.start})] if goal.start else []
    return begin if goal.kind == "create-branch" else [*begin, _change(task, goal)]


def _change(task: Task, goal: Goal) -> TaskStep:
    place = {"path": goal.path, "branch": goal.branch}
    if goal.kind == "delete-file":
        return TaskStep("delete_file", place)
    content = expected_state(task).branches[goal.branch].files[goal.path]
    assert isinstance(content, File)
    name = "create_file" if goal.kind == "create-file" else "update_file"
    return TaskStep(name, {**place, "content": content.data.decode()})
