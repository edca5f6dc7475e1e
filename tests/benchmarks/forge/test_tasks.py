"""The tasks ask for what they mean, and are judged by it."""

import hashlib
from collections import Counter

import msgspec
import pytest
from msgspec import structs

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.state import Comment, IssueThread, Review, State, our_project
from misstep.benchmarks.forge.tasks import (
    expected_state,
    forge_tasks,
    goal_of,
    initial_state,
    judge_forge,
    solution,
)
from misstep.benchmarks.forge.tools import TOOLS
from misstep.benchmarks.tree import File
from misstep.core.results.benchmark import Task, TaskStep
from misstep.errors import UsageError

TASKS = forge_tasks()
DELETION = next(task for task in TASKS if task.kind == "delete-file")
KINDS = {
    "comment-on-issue": 18,
    "update-file": 9,
    "create-pull-request": 2,
    "create-file": 6,
    "delete-file": 9,
    "create-branch": 10,
}


def carry_out(step: TaskStep) -> None:
    next(tool for tool in TOOLS if tool.__name__ == step.tool)(**step.arguments)


def test_every_kind_is_in_both_splits() -> None:
    assert Counter(task.kind for task in TASKS) == KINDS
    assert {(task.kind, task.split) for task in TASKS} == {
        (kind, split) for kind in KINDS for split in ("validation", "test")
    }
    assert len({task.id for task in TASKS}) == len({task.request for task in TASKS}) == 54


def test_tasks_never_change() -> None:
    told = hashlib.sha256(msgspec.json.encode(TASKS)).hexdigest()
    assert told == "111fba6b16ea63db47f50c517a5445b85c357cd8aed931b89c72cffefb6dceed"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.kind}-{task.seed}")
def test_requests_say_everything(task: Task) -> None:
    goal = goal_of(task)
    thread = initial_state().threads.get(goal.issue)
    named = [goal.body, goal.branch, goal.path, goal.old, goal.added or goal.new, goal.content, goal.title]
    for text in (*named, goal.head, goal.base, goal.start):
        assert text.rstrip("\n") in task.request
    assert not thread or thread.title in task.request or f" {goal.issue}" in task.request.replace("#", " ")
    assert "{" not in task.request.replace('{5: "', "")
    if goal.path:
        assert (goal.path in initial_state().branches[goal.start or goal.branch].files) == (
            goal.kind != "create-file"
        )
    assert (goal.branch in initial_state().branches) == bool(goal.branch and not goal.start)


@pytest.mark.full(after=16)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.kind}-{task.seed}")
def test_right_idle_and_damage(forge: Forge, task: Task) -> None:
    done = solution(task)
    idle, why = judge_forge(task, initial_state())
    assert (idle, len(why)) == ("failed", 1)
    for step in done.steps:
        carry_out(step)
    assert judge_forge(task, forge.state()) == ("passed", ())
    carry_out(done.damage)
    verdict, why = judge_forge(task, forge.state())
    assert (verdict, len(why)) == ("failed", 1)


@pytest.mark.parametrize("task", [TASKS[0], TASKS[28], DELETION], ids=lambda task: task.kind)
def test_one_more_change_anywhere_is_seen(task: Task) -> None:
    right = expected_state(task)
    assert judge_forge(task, right) == ("passed", ())
    wrong = list(_damaged(right))
    assert len(wrong) > 150
    for state in wrong:
        assert judge_forge(task, state)[0] == "failed"


def _damaged(state: State) -> list[State]:
    """The state with one thing that is not as it should be, in every place."""
    found = [
        structs.replace(state, labels=state.labels[1:]),
        structs.replace(state, labels=(structs.replace(state.labels[0], color="000000"), *state.labels[1:])),
        structs.replace(state, refs={"refs/tags/v": "0"}),
        structs.replace(state, threads={**state.threads, 99: IssueThread(99, "t", "", "fernwood-helper")}),
    ]
    for name, branch in state.branches.items():
        others = {key: value for key, value in state.branches.items() if key != name}
        found.append(structs.replace(state, branches=others))
        found.append(structs.replace(state, branches={**state.branches, f"{name}-2": branch}))
        moved = structs.replace(branch, tip="0" * 40)
        modes = structs.replace(branch, executable=frozenset([*branch.files][:1]))
        found += [structs.replace(state, branches={**others, name: each}) for each in (moved, modes)]
        for path in branch.files:
            for files in ({**branch.files, path: File(b"x")}, {**branch.files, f"{path}.orig": File(b"x")}):
                changed = structs.replace(branch, files=files)
                found.append(structs.replace(state, branches={**others, name: changed}))
    for number, thread in state.threads.items():
        closed = "open" if thread.state == "closed" else "closed"
        for fields in (
            {"title": "x"},
            {"body": "x"},
            {"state": closed},
            {"labels": ()} if thread.labels else {"labels": ("bug",)},
            {"assignees": ("mara-lindqvist",)},
            {"locked": True},
            {"comments": (*thread.comments, Comment("fernwood-helper", "x"))},
            {"comments": thread.comments[:-1]} if thread.comments else {"author": "x"},
            {"comments": (*thread.comments[:-1], structs.replace(thread.comments[-1], author="x"))}
            if thread.comments
            else {"labels": ("odd",)},
            *_damaged_proposals(thread),
        ):
            changed_thread = structs.replace(thread, **fields)
            found.append(structs.replace(state, threads={**state.threads, number: changed_thread}))
    return found


def _damaged_proposals(thread: IssueThread) -> list[dict[str, object]]:
    if thread.pull is None:
        return []
    fields: tuple[dict[str, object], ...] = (
        {"head": "docs-refresh-2"},
        {"base": "x"},
        {"draft": True},
        {"reviewers": ("x",)},
        {"reviews": (Review("fernwood-helper", "APPROVED", ""),)},
    )
    return [{"pull": structs.replace(thread.pull, **each)} for each in fields] + [{"pull": None}]


def test_a_branch_that_was_left_alone_has_the_same_commits() -> None:
    state = expected_state(TASKS[0])
    rewritten = structs.replace(state.branches["main"], tip="0" * 40)
    verdict, why = judge_forge(
        TASKS[0], structs.replace(state, branches={**state.branches, "main": rewritten})
    )
    assert (verdict, why[0][:40]) == ("failed", "branch 'main': is at commit 0000000, sho")


def test_line_breaks_at_the_end_count_only_where_nobody_asked_for_a_change() -> None:
    task = next(task for task in TASKS if task.kind == "create-file")
    goal, state = goal_of(task), expected_state(task)

    def ending(path: str, more: bytes) -> State:
        branch = state.branches[goal.branch]
        file = branch.files[path]
        assert isinstance(file, File)
        files = {**branch.files, path: File(file.data.rstrip(b"\n") + more)}
        return structs.replace(
            state, branches={**state.branches, goal.branch: structs.replace(branch, files=files)}
        )

    assert (
        judge_forge(task, ending(goal.path, b""))[0]
        == judge_forge(task, ending(goal.path, b"\n\n"))[0]
        == "passed"
    )
    assert judge_forge(task, ending(goal.path, b" x"))[0] == "failed"
    other = next(path for path in state.branches[goal.branch].files if path != goal.path)
    assert judge_forge(task, ending(other, b"\n"))[0] == "passed"  # as it was
    assert judge_forge(task, ending(other, b""))[0] == "failed"


def test_line_breaks_at_the_end_of_what_is_said() -> None:
    for kind in ("comment-on-issue", "create-pull-request"):
        task = next(task for task in TASKS if task.kind == kind)
        state = expected_state(task)
        number = goal_of(task).issue or max(state.threads)
        thread = state.threads[number]
        for ending, verdict in (("\n", "passed"), (" ", "failed")):
            if thread.pull:
                ended = structs.replace(thread, body=thread.body + ending)
            else:
                last = structs.replace(thread.comments[-1], body=thread.comments[-1].body + ending)
                ended = structs.replace(thread, comments=(*thread.comments[:-1], last))
            found = structs.replace(state, threads={**state.threads, number: ended})
            assert judge_forge(task, found)[0] == verdict


def test_tasks_of_others_are_refused() -> None:
    for task in (structs.replace(TASKS[0], id="nope"), structs.replace(TASKS[0], seed=99)):
        with pytest.raises(UsageError, match="there is no forge task"):
            judge_forge(task, initial_state())


def test_the_project_holds_together() -> None:
    project = our_project()
    people = {person.login for person in project.people}
    labels = {label.name for label in project.labels}
    assert [thread.number for thread in project.threads] == list(range(1, 17))
    for thread in project.threads:
        reviewers = thread.pull.reviewers if thread.pull else ()
        assert {thread.author, *thread.assignees, *reviewers} <= people
        assert {comment.author for comment in thread.comments} <= people
        assert labels.issuperset(thread.labels)
