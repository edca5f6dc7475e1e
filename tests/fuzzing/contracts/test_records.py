"""Which calls about records with ids from results break a contract, and which only seem to."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts import records
from misstep.fuzzing.contracts.checks import judge_sequences_of, next_of, read_steps_of
from misstep.fuzzing.contracts.steps import Calls, Toolkit
from misstep.fuzzing.returned import filled_in, remember
from tests.fuzzing.contracts.test_checks import NUMBER, TEXT, answer, call, refusal, tool

CREATE = tool("create_task", "Create a task.", title=TEXT, note=TEXT)
GET = tool("get_task", "Get a task.", task_id=TEXT)
LIST = tool("list_tasks", "List all tasks.")
UPDATE = tool("update_task", "Update the title of a task.", task_id=TEXT, title=TEXT)
DELETE = tool("delete_task", "Delete a task.", task_id=TEXT)
TOOLS = (CREATE, GET, LIST, UPDATE, DELETE)


class Tasks:
    """A server in memory that keeps its promises; others override what they break."""

    def __init__(self) -> None:
        self.kept, self.latest, self.made = dict[str, dict[str, Any]](), dict[str, str | int](), 0

    def react(self, made: Invocation) -> Reaction:
        if made.sent == "afresh":
            self.__init__()  # type: ignore[misc]  # as a new process
        given = filled_in(json.loads(made.arguments), self.latest)
        try:
            reaction = answer(json.dumps(getattr(self, made.tool)(**given)))
        except KeyError:
            return refusal("there is no such task")
        remember(self.latest, made.tool, reaction)
        return reaction

    def create_task(self, title: str, note: str) -> Any:
        self.made += 1
        name = f"t-{self.made}"
        self.kept[name] = {"id": name, "title": title, "note": note}
        return {"id": name}

    def get_task(self, task_id: str) -> Any:
        return self.kept[task_id]

    def list_tasks(self) -> Any:
        return list(self.kept.values())

    def update_task(self, task_id: str, title: str) -> Any:
        self.kept[task_id] |= {"title": title}
        return "updated"

    def delete_task(self, task_id: str) -> Any:
        del self.kept[task_id]
        return "deleted"


class LosesNote(Tasks):
    def create_task(self, title: str, note: str) -> Any:
        return super().create_task(title, "")


class GetsFirst(Tasks):
    def get_task(self, task_id: str) -> Any:
        return [*self.kept.values(), self.kept[task_id]][0]


class GetsLatest(Tasks):
    def get_task(self, task_id: str) -> Any:
        return [self.kept[task_id], *self.kept.values()][-1]


class ListsOne(Tasks):
    def list_tasks(self) -> Any:
        return list(self.kept.values())[:1]


class ListsTwice(Tasks):
    def list_tasks(self) -> Any:
        return [*self.kept.values(), *list(self.kept.values())[1:]]


class RepeatsTitles(Tasks):
    def list_tasks(self) -> Any:
        return [{**each, "line": each["title"]} for each in self.kept.values()]


class ListsRepeated(RepeatsTitles):
    def list_tasks(self) -> Any:
        return super().list_tasks()[:1]


class KeepsTitle(Tasks):
    def update_task(self, task_id: str, title: str) -> Any:
        return self.kept[task_id] and "updated"


class UpdatesAll(Tasks):
    def update_task(self, task_id: str, title: str) -> Any:
        for each in self.kept.values():
            each["title"] = title
        return self.kept[task_id] and "updated"


class ClearsNote(Tasks):
    def update_task(self, task_id: str, title: str) -> Any:
        self.kept[task_id] |= {"title": title, "note": ""}
        return "updated"


class KeepsDeleted(Tasks):
    def delete_task(self, task_id: str) -> Any:
        return self.kept[task_id] and "deleted"


class DeletesAll(Tasks):
    def delete_task(self, task_id: str) -> Any:
        self.kept.clear()
        return "deleted"


class SharesNotes(Tasks):
    def create_task(self, title: str, note: str) -> Any:
        for each in self.kept.values():
            each["note"] = note
        return super().create_task(title, note)


def breaches(tasks: Tasks, tools: Sequence[Described] = TOOLS) -> set[tuple[str, str]]:
    """The contracts that experiments with these tasks show to be broken, by tool."""
    first = call("create_task", title="a", note="b")
    kit = Toolkit({each.name: each for each in tools}, {"create_task": [(first,)]})
    rulings = [judge_sequences_of(tools)(*made) for made in experiments(kit, tasks)]
    return {(judged.tool, judged.error) for judged in rulings if judged.ruling == "contract"}


def experiments(kit: Toolkit, tasks: Tasks) -> Iterator[tuple[Calls, list[Reaction]]]:
    """The experiments about records, made with these tasks."""
    read, proposed = read_steps_of(list(kit.tools.values())), records.experiments(kit)
    calls = next_of(proposed, None)
    while calls is not None:
        reactions = [tasks.react(each) for each in calls]
        yield calls, reactions
        calls = next_of(proposed, read(calls, reactions))


@pytest.mark.parametrize(
    ("tasks", "broken"),
    [
        (Tasks, set()),
        (LosesNote, {("get_task", "read back")}),
        (GetsFirst, {("get_task", "read back")}),
        (GetsLatest, {("get_task", "read back")}),
        (ListsOne, {("list_tasks", "listed once")}),
        (ListsTwice, {("list_tasks", "listed once")}),
        (RepeatsTitles, set()),
        (ListsRepeated, {("list_tasks", "listed once")}),
        (KeepsTitle, {("update_task", "read back")}),
        (UpdatesAll, {("update_task", "nothing else")}),
        (ClearsNote, {("update_task", "nothing else")}),
        (KeepsDeleted, {("delete_task", "deleted")}),
        (DeletesAll, {("delete_task", "nothing else")}),
        (SharesNotes, {("create_task", "nothing else")}),
    ],
)
def test_broken_promises_about_records_are_found(tasks: type[Tasks], broken: set[tuple[str, str]]) -> None:
    assert breaches(tasks()) == broken


def test_what_was_read_instead_is_told() -> None:
    tasks, look = LosesNote(), call("get_task", task_id="${result.id@create_task#1}")
    calls = [call("create_task", title="harbour1", note="harbour2"), look]
    judged = judge_sequences_of(TOOLS)(calls, [*map(tasks.react, calls)])
    assert judged.message == (
        "a record was created with 'harbour2', but reading it returned "
        '{"id": "t-1", "title": "harbour1", "note": ""}'
    )


def says(described: Described, description: str) -> list[Described]:
    """The tools, one of them with another description."""
    changed = tool(described.name, description, **described.tool.parameters["properties"])
    return [changed if each is described else each for each in TOOLS]


@pytest.mark.parametrize(
    ("tasks", "described", "description"),
    [
        (ListsRepeated, LIST, "List the newest tasks."),
        (ListsOne, LIST, "The task to do first."),
        (LosesNote, GET, ""),  # it promises nothing
        (LosesNote, CREATE, "Create a task; notes are encrypted."),
        (ListsOne, LIST, "List the most recent task."),
        (KeepsTitle, UPDATE, "Update a task. Changes are made in the background."),
        (ClearsNote, UPDATE, "Update a task; what is not given is cleared."),
        (KeepsDeleted, DELETE, "Delete a task softly: it is archived."),
        (DeletesAll, DELETE, "Delete a task, cascading to its children."),
        (SharesNotes, CREATE, "Create a task. Overwrites the notes of all tasks."),
    ],
)
def test_what_tools_say_themselves_is_no_breach(
    tasks: type[Tasks], described: Described, description: str
) -> None:
    assert breaches(tasks(), says(described, description)) == set()


class Positions(Tasks):
    """Ids are positions."""

    def create_task(self, title: str, note: str) -> Any:
        self.kept[str(len(self.kept) + 1)] = {"title": title, "note": note}
        return {"id": len(self.kept)}

    def delete_task(self, task_id: str) -> Any:
        del self.kept[task_id]
        self.kept = {str(place): each for place, each in enumerate(self.kept.values(), 1)}
        return "deleted"


class Merges(Tasks):
    """A task replaces the one before."""

    def create_task(self, title: str, note: str) -> Any:
        self.kept = {"t-1": {"title": title, "note": note}}
        return {"id": "t-1"}


class Capitals(Tasks):
    def create_task(self, title: str, note: str) -> Any:
        return super().create_task(title.title(), f" {note.upper()} ")


class Briefly(Tasks):
    """Lists and results show titles only."""

    def list_tasks(self) -> Any:
        return [each["title"] for each in self.kept.values()]

    def get_task(self, task_id: str) -> Any:
        return f"Task: {self.kept[task_id]['title']}"


class Asks(Tasks):
    def delete_task(self, task_id: str) -> Any:
        return "Are you sure? Set confirm to delete it."

    def update_task(self, task_id: str, title: str) -> Any:
        return "not updated: it is locked"


@pytest.mark.parametrize("tasks", [Positions, Merges, Capitals, Briefly, Asks])
def test_servers_that_work_in_another_way_are_left_in_peace(tasks: type[Tasks]) -> None:
    assert breaches(tasks()) == set()


class Owned(LosesNote):
    """Results also name what all tasks share."""

    def create_task(self, title: str, note: str) -> Any:
        return {**super().create_task(title, note), "owner_id": "u-1"}


def test_one_id_of_a_record_is_enough() -> None:
    assert breaches(Owned()) == {("get_task", "read back")}


class Numbered(LosesNote):
    """Ids are numbers, which is checked."""

    def create_task(self, title: str, note: str) -> Any:
        self.kept[len(self.kept) + 1] = {"title": title, "note": ""}  # type: ignore[index]
        return {"id": len(self.kept)}


@pytest.mark.parametrize(
    "schema",
    [
        NUMBER,
        {"type": "number"},
        {**NUMBER, "description": "an integer, not a string"},
        {"anyOf": [NUMBER, {"type": "null"}]},
    ],
)
def test_ids_may_be_numbers(schema: dict[str, Any]) -> None:
    get = tool("get_task", "Get a task.", task_id=schema)
    assert breaches(Numbered(), (CREATE, get)) == {("get_task", "read back")}


@pytest.mark.parametrize("shapes", [[True, TEXT], [None, TEXT], {}, None, []])
def test_alternatives_of_any_form_are_read(shapes: Any) -> None:
    create = tool("create_task", "Create a task.", title=TEXT, note={**TEXT, "anyOf": shapes})
    assert breaches(LosesNote(), (create, GET)) == {("get_task", "read back")}


def test_a_record_without_words_of_its_own_is_not_compared() -> None:
    words, plain = ({"title": f"{one}1", "note": f"{one}2"} for one in ("harbour", "a"))
    look = call("get_task", task_id="${result.id@create_task#1}")
    calls = [call("create_task", **words), look, call("create_task", **plain), look]
    reactions = [*map(Tasks().react, calls)]
    assert judge_sequences_of(TOOLS)(calls, reactions).ruling == "fine"


class FirstPage(Tasks):
    """Lists the oldest tasks, of which a few are there already, unless it has just been started."""

    def list_tasks(self) -> Any:
        return super().list_tasks()[:10]


def test_what_a_list_lacks_may_be_on_another_page() -> None:
    tasks = FirstPage()
    for number in range(8):
        tasks.create_task(f"task {number}", "")
    assert breaches(tasks) == set()
    limited = Tool("list_tasks", "List all tasks.", {"properties": {"limit": NUMBER}})
    assert breaches(ListsOne(), (CREATE, GET, Described(limited, "mcp"))) == set()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("create_record", "make"),
        ("log_event", "make"),
        ("record_expense", "make"),
        ("add_log", "make"),
        ("git_log", None),
        ("log_list", "look"),
        ("record_get", "look"),
        ("record_update", "change"),
        ("delete_record", "delete"),
        ("find_note", "look"),
        ("find_and_replace", None),
        ("find_replace", None),
        ("get_or_create_task", None),
    ],
)
def test_roles_are_told_from_names(name: str, role: str | None) -> None:
    assert records.role_of(tool(name, "")) == role


def test_tools_about_other_things_are_not_tried() -> None:
    others = [
        tool("delete_task_note", "Delete the note of a task.", task_id=TEXT),
        tool("delete_project", "Delete a project.", task_id=TEXT),
        tool("update_task", "Update a task.", task_id=TEXT, title=TEXT, status=TEXT),
        tool("rename_task", "Rename a task.", task_id=TEXT, title={**TEXT, "enum": ["a"]}, rank=NUMBER),
    ]
    first = call("create_task", title="a", note="b")
    kit = Toolkit({each.name: each for each in (CREATE, GET, *others)}, {"create_task": [(first,)]})
    made = {each.tool for calls, _ in experiments(kit, Tasks()) for each in calls}
    assert made == {"create_task", "get_task"}
