"""The forge tasks: requests, the states that they ask for, how results are judged, and solutions."""

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import structs

from misstep.benchmarks.forge.forge import survey
from misstep.benchmarks.forge.repository import Repository, seed
from misstep.benchmarks.forge.state import (
    Branch,
    Comment,
    ForgeRecords,
    IssueThread,
    PullProposal,
    State,
    differences,
    our_project,
    read_data,
)
from misstep.benchmarks.tree import Content, File
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Solution, Task, TaskStep, task_id
from misstep.errors import InternalError, UsageError

Kind = Literal[
    "comment-on-issue", "update-file", "create-pull-request", "create-file", "delete-file", "create-branch"
]
Split = Literal["validation", "test"]


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a task asks for. A branch with a `start` is new and starts there."""

    kind: Kind
    split: Split
    request: str
    issue: int = 0
    body: str = ""
    branch: str = ""
    start: str = ""
    path: str = ""
    old: str = ""
    new: str = ""
    added: str = ""  # what `new` has in addition to `old`
    content: str = ""
    title: str = ""
    head: str = ""
    base: str = ""

    @property
    def words(self) -> str:
        text = self.request
        for name in self.__struct_fields__:
            text = text.replace(f"{{{name}}}", str(getattr(self, name)).rstrip("\n"))
        return text


class _Written(msgspec.Struct, frozen=True):
    tasks: tuple[Goal, ...]


@cache
def forge_tasks() -> Sequence[Task]:
    """All tasks, always the same and in the same order."""
    return tuple(
        Task(task_id("forge", goal.kind, number), "forge", goal.kind, goal.words, goal.split, seed=number)
        for number, goal in enumerate(_goals(), 1)
    )


def goal_of(task: Task) -> Goal:
    """What a task asks for; `UsageError` for an unknown task."""
    known = forge_tasks()
    if not 1 <= task.seed <= len(known) or known[task.seed - 1].id != task.id:
        raise UsageError(
            f"there is no forge task {task.id!r}",
            f"known tasks: {known[0].id} … {known[-1].id}, {len(known)} in all",
        )
    return _goals()[task.seed - 1]


@cache
def _goals() -> tuple[Goal, ...]:
    return msgspec.toml.decode(read_data("tasks.toml"), type=_Written).tasks


@cache
def initial_state() -> State:
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
            number, author = max(state.threads) + 1, our_project().account
            proposal = PullProposal(goal.head, goal.base)
            return _with_thread(state, IssueThread(number, goal.title, goal.body, author, pull=proposal))
        case "create-branch":
            return _with_branch(state, goal.branch, state.branches[goal.start])
        case _:
            start = state.branches[goal.start or goal.branch]
            files = _changed(goal, start.files)
            branch = Branch(files, executable=start.executable, follows=start.tip)
            return _with_branch(state, goal.branch, branch)


def judge_forge(task: Task, found: State) -> tuple[Judgement, tuple[str, ...]]:
    """Passed or failed, and the differences from the expected state. The agent's reply is ignored.

    Everything has to be equal, with one exception: line breaks at the end of a text that the task asks for (a
    file, a comment or a description) don't count, since requests can't specify them.
    """
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
        content, right = branch.files[goal.path], expected.branches[goal.branch].files.get(goal.path)
        if isinstance(content, File) and isinstance(right, File):
            same = content.data.rstrip(b"\r\n") == right.data.rstrip(b"\r\n")
            content = right if same else content
        changed = structs.replace(branch, files={**branch.files, goal.path: content})
        return _with_branch(found, goal.branch, changed)
    number = goal.issue or max(expected.threads)
    if goal.body and number in found.threads:
        return _with_thread(found, _settled_thread(found.threads[number], goal))
    return found


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
    return Solution(tuple(_steps(task)), _DAMAGE[task.seed % len(_DAMAGE)], "Done.")


def _steps(task: Task) -> list[TaskStep]:
    goal = goal_of(task)
    if goal.kind == "comment-on-issue":
        return [TaskStep("comment_on_issue", {"number": goal.issue, "body": goal.body})]
    if goal.kind == "create-pull-request":
        given = {"title": goal.title, "body": goal.body, "head": goal.head, "base": goal.base}
        return [TaskStep("create_pull_request", given)]
    begin = [TaskStep("create_branch", {"name": goal.branch, "start": goal.start})] if goal.start else []
    place = {"path": goal.path, "branch": goal.branch}
    if goal.kind == "create-branch":
        return begin
    if goal.kind == "delete-file":
        return [*begin, TaskStep("delete_file", place)]
    content = expected_state(task).branches[goal.branch].files[goal.path]
    assert isinstance(content, File)
    name = "create_file" if goal.kind == "create-file" else "update_file"
    return [*begin, TaskStep(name, {**place, "content": content.data.decode()})]
