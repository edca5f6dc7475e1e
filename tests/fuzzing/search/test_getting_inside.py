"""How the fuzzer gets calls accepted by servers that refuse most of them."""

import json
import posixpath
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.returned import filled_in, latest_in
from misstep.fuzzing.search.corpus import Calls
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.search.mutation import respelled
from misstep.fuzzing.search.subject import FuzzSubject
from tests.fuzzing.search.bench import Simple

# What a server keeps, and what it says to a call: text, and whether it accepts it.
State: TypeAlias = dict[str, Any]
Answer: TypeAlias = Callable[[str, dict[str, Any], State], tuple[bool, str]]
FILES = ("data", "data/a.csv", "notes.md", "/w/data", "/w/data/a.csv", "/w/notes.md")


def tool(name: str, *parameters: str, optional: dict[str, Any] | None = None) -> Described:
    text = {"type": "string"}
    properties = {**dict.fromkeys(parameters, text), **(optional or {})}
    schema = {"type": "object", "properties": properties, "required": [*parameters]}
    return Described(Tool(name, "", schema), "mcp")


def accepted_share(
    tools: Sequence[Described],
    answer: Answer,
    preparations: Sequence[Calls] = (),
    files: Sequence[str] = (),
    calls: int = 60,
) -> float:
    """The share of so many calls that the first tool accepts."""
    fuzzer = Fuzzer(tools[:1], 1, files=files, helpers=tools[1:], preparations=preparations)
    state: State = {}
    made = accepted = 0
    while made < calls and (attempts := fuzzer.ask(4)):
        for attempt in attempts:
            reactions, judged = list[Reaction](), list[Judged]()
            latest: dict[str, str | int] = {}
            for call in attempt.calls:
                is_fine, text = answer(call.tool, filled_in(json.loads(call.arguments), latest), state)
                reactions.append(Reaction("returned", text=text, size=len(text)))
                judged.append(Judged("fine" if is_fine else "refused", message=text))
                latest |= latest_in(reactions[-1])
                made, accepted = (
                    made + (call.tool == tools[0].name),
                    accepted + (is_fine and call.tool == tools[0].name),
                )
            fuzzer.tell(attempt, reactions, judged)
    return accepted / made


def test_a_tool_that_a_refusal_hints_at_is_called_first() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "create_task":
            state[f"task-{len(state)}"] = "open"
            return True, json.dumps({"taskId": [*state][-1], "title": given["title"]})
        if (task := str(given.get("taskId"))) not in state:
            return False, "There is no such task"
        if name == "mark_done":
            state[task] = "done"
        return (True, f"taskId: {task}") if state[task] == "done" else (False, "The task is not done yet.")

    tools = [tool("approve_task", "taskId"), tool("create_task", "title"), tool("mark_done", "taskId")]
    made: Calls = (("create_task", {"title": "Paint"}),)
    assert accepted_share(tools, answer, [made]) > 0.3
    assert not accepted_share(tools[:2], answer, [made])


def test_a_tool_that_is_called_first_gets_other_arguments_where_it_refuses_them() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "open_bank":
            state["open"] = state.get("open") or given["path"] == "data"
            return state["open"], "opened" if state["open"] else f"not a folder: {given['path']}"
        return bool(state.get("open")), "stored" if state.get("open") else "Use open_bank first."

    assert accepted_share([tool("keep_word", "word"), tool("open_bank", "path")], answer, files=FILES) > 0.4


def test_what_has_to_be_confirmed_is_given_twice() -> None:
    def answer(_: str, given: dict[str, Any], __: State) -> tuple[bool, str]:
        is_fine = given.get("label") == given.get("confirmLabel")
        return is_fine, "done" if is_fine else "cancelled"

    assert accepted_share([tool("drop_label", "label", "confirmLabel")], answer) > 0.7


def test_what_is_moved_is_made_again_first() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "write_note":
            state[given["path"]] = given["text"]
            return True, f"written {given['path']}"
        old, new = given["oldPath"], given["newPath"]
        if old not in state or new in state:
            return False, "Target exists" if old in state else "Source not found"
        state[new] = state.pop(old)
        return True, "moved"

    tools = [tool("move_note", "oldPath", "newPath"), tool("write_note", "path", "text")]
    made: Calls = (("write_note", {"path": "notes.md", "text": "Hello there"}),)
    assert accepted_share(tools, answer, [made], FILES) > 0.4


def test_a_text_to_be_replaced_is_one_that_was_written() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "write_note":
            state["note"] = given["content"]
            return True, "written"
        is_there = len(given["oldString"]) > 2 and given["oldString"] in state.get("note", "")
        return is_there, "replaced" if is_there else f"No such text: {given['oldString']}"

    tools = [tool("patch_note", "oldString", "newString"), tool("write_note", "content")]
    made: Calls = (("write_note", {"content": "The delivery arrives soon"}),)
    assert accepted_share(tools, answer, [made], calls=12) > 0.3


def test_a_switch_that_a_refusal_names_is_set() -> None:
    def answer(_: str, given: dict[str, Any], __: State) -> tuple[bool, str]:
        is_fine = given.get("overwrite") is True and not any(given.get(other) for other in others)
        return is_fine, "copied" if is_fine else "It exists. Use overwrite=true to replace it."

    others = ("deep", "dry", "force", "quiet", "strict", "verbose", "wide")
    copying = tool("copy", "text", optional={key: {"type": "boolean"} for key in (*others, "overwrite")})
    assert accepted_share([copying], answer, calls=8) > 0.3


def test_a_document_may_be_named_without_its_ending() -> None:
    def answer(_: str, given: dict[str, Any], __: State) -> tuple[bool, str]:
        is_fine = given["subject"] == "notes"
        return is_fine, "# Notes" if is_fine else f"No file found for [[{given['subject']}]]."

    link = tool("resolve", "subject", optional={"more": {"type": "string"}})
    assert accepted_share([link], answer, files=FILES) > 0.4


@pytest.mark.parametrize("file", [*FILES, "a/b/c.txt", "x"])
def test_another_spelling_names_the_same_file(file: str) -> None:
    dice = Dice(1)
    spellings = {respelled(file, dice) for _ in range(40)}
    assert len(spellings) > 1
    assert file not in spellings
    assert {posixpath.normpath(each) for each in spellings} == {file}


def test_values_end_where_markup_begins() -> None:
    text = "<ul><li>name: red</li><li>range: C10</li></ul>"
    assert latest_in(Reaction("returned", text=text, size=len(text))) == {"name": "red", "range": "C10"}


@pytest.mark.parametrize(
    ("parameter", "told", "first"),
    [
        ("path", "", "notes.md"),
        ("path", "The absolute path of the file.", "/w/notes.md"),
        ("path", "An absolute or relative path.", "notes.md"),
        ("absolutePath", "", "/w/notes.md"),
        ("newPath", "", "new1.md"),
        ("destination_path", "Where to, an absolute path.", "/w/new1.md"),
    ],
)
def test_files_are_absolute_or_new_where_they_have_to_be(parameter: str, told: str, first: str) -> None:
    schema = {"properties": {parameter: {"type": "string", "description": told}}, "required": [parameter]}
    noted = Described(Tool("show_note", "", {"type": "object", **schema}), "mcp")
    assert FuzzSubject(noted, 0, Simple(noted), Dice(1), FILES).simple == {parameter: first}


def test_a_list_of_moves_begins_with_a_file_that_is_there_and_one_that_is_not() -> None:
    text = {"type": "string"}
    move = {"type": "object", "properties": {"source": text, "destination": text}}
    moves = {"type": "array", "minItems": 1, "items": {**move, "required": ["source", "destination"]}}
    schema = {"type": "object", "properties": {"operations": moves}, "required": ["operations"]}
    told = Tool("move_items", "Moves files.", schema)
    subject = FuzzSubject(Described(told, "mcp"), 0, Simple(Described(told, "mcp")), Dice(1), FILES)
    assert subject.simple["operations"][0] == {"source": "notes.md", "destination": "new1.md"}
