"""Ends that look right and are not: each is told for what it is."""

import pytest

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.repository import Repository
from misstep.benchmarks.forge.tasks import forge_tasks, goal_of, initial_state, judge_forge, solution
from misstep.benchmarks.forge.tools import TOOLS
from misstep.core.results.benchmark import Task
from tests.benchmarks.forge.asking import ask

TASKS = forge_tasks()
DELETION = next(task for task in TASKS if task.kind == "delete-file")


def do(task: Task) -> None:
    for step in solution(task).steps:
        next(tool for tool in TOOLS if tool.__name__ == step.tool)(**step.arguments)


@pytest.mark.parametrize("kind", ["update-file", "create-file", "delete-file"])
@pytest.mark.parametrize("is_new", [False, True])
def test_history_is_not_to_be_rewritten(forge: Forge, kind: str, is_new: bool) -> None:
    task = next(task for task in TASKS if task.kind == kind and bool(goal_of(task).start) == is_new)
    branch, start = (
        goal_of(task).branch,
        initial_state().branches[goal_of(task).start or goal_of(task).branch],
    )
    do(task)
    tree = ask(forge, "GET", f"~/git/trees/{branch}").body["sha"]
    _move(forge, branch, tree, [])
    words = f"branch '{branch}': its history was rewritten, it should follow {start.tip[:7]}"
    assert judge_forge(task, forge.state()) == ("failed", (words,))
    other = initial_state().branches["export-ics"].tip
    _move(forge, branch, tree, [other, start.tip])
    assert judge_forge(task, forge.state()) == ("passed", ())


def _move(forge: Forge, branch: str, tree: str, parents: list[str]) -> None:
    """Put a commit with these files there, whatever there was before."""
    made = ask(forge, "POST", "~/git/commits", {"message": "m", "tree": tree, "parents": parents}).body["sha"]
    moved = ask(forge, "PATCH", f"~/git/refs/heads/{branch}", {"sha": made, "force": True})
    assert moved.status == 200


def test_a_file_that_may_be_run_now(forge: Forge) -> None:
    branch = goal_of(DELETION).branch
    do(DELETION)
    tip = forge.state().branches[branch].tip
    found = ask(forge, "GET", f"~/contents/LICENSE?ref={branch}").body["sha"]
    given = {
        "base_tree": ask(forge, "GET", f"~/git/trees/{branch}").body["sha"],
        "tree": [{"path": "LICENSE", "mode": "100755", "type": "blob", "sha": found}],
    }
    _move(forge, branch, ask(forge, "POST", "~/git/trees", given).body["sha"], [tip])
    words = f"changed: branch '{branch}': files that may be run is ['LICENSE'], should be []"
    assert judge_forge(DELETION, forge.state()) == ("failed", (words,))


def test_a_tree_that_nobody_could_list(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Repository, "most", 100)
    branch = goal_of(DELETION).branch
    entry = {"mode": "100644", "sha": ask(forge, "GET", "~/contents/LICENSE").body["sha"]}
    for _ in range(12):
        given = {"tree": [{"path": f"{number}", **entry} for number in range(10)]}
        tree = ask(forge, "POST", "~/git/trees", given).body["sha"]
        entry = {"mode": "040000", "sha": tree}
    _move(forge, branch, tree, [initial_state().branches[branch].tip])
    verdict, why = judge_forge(DELETION, forge.state())
    assert (verdict, f"branch '{branch}': unexpected: …" in "\n".join(why)) == ("failed", True)
    listed = ask(forge, "GET", f"~/git/trees/{branch}?recursive=1").body
    assert (len(listed["tree"]), listed["truncated"]) == (100, True)


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        (
            "PATCH",
            "~/issues/3",
            {"state": "closed"},
            "changed: issue #3: state is 'closed', should be 'open'",
        ),
        ("PUT", "~/issues/3/labels", {"labels": []}, "changed: issue #3: labels is [], should be ['bug"),
        ("POST", "~/labels", {"name": "odd"}, "changed: labels of the repository is "),
        (
            "POST",
            "~/git/refs",
            {"ref": "refs/tags/v9", "sha": "TIP"},
            "changed: refs that are not branches is ",
        ),
        ("POST", "~/issues/3/comments", {"body": "Done."}, "unexpected: issue #3: comment 'Done.'"),
        ("PATCH", "~/git/refs/heads/herbs", {"sha": "TIP", "force": True}, "branch 'herbs': "),
    ],
)
def test_one_thing_more(forge: Forge, method: str, path: str, body: dict[str, object], words: str) -> None:
    task = next(task for task in TASKS if goal_of(task).issue == 3)
    do(task)
    tip = initial_state().branches["main"].tip
    given = {key: tip if value == "TIP" else value for key, value in body.items()}
    assert ask(forge, method, path, given).status in (200, 201)
    verdict, why = judge_forge(task, forge.state())
    assert (verdict, why[0][: len(words)]) == ("failed", words)
