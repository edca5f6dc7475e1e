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


def test_a_chain_is_built_from_what_each_refusal_asks_for() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "plan_project":
            number = len(state)
            state[f"p{number}"] = {f"t{number}": "open"}
            return True, json.dumps({"projectId": f"p{number}", "tasks": [{"id": f"t{number}"}]})
        tasks = state.get(given["projectId"], {})
        if name == "finish_project":
            if not tasks or "open" in tasks.values():
                return False, '{"status": "error", "message": "Not all tasks are done."}'
            is_fine = "done" not in tasks.values()
            told = (
                {"status": "finished"}
                if is_fine
                else {"status": "error", "message": "Some are not approved."}
            )
            return is_fine, json.dumps(told)
        before, after = ("open", "done") if name == "mark_task_done" else ("done", "approved")
        if tasks.get(given["taskId"]) != before:
            return False, "The task is in another state."
        tasks[given["taskId"]] = after
        return True, json.dumps({"task": {"id": given["taskId"]}})

    finish, plan = tool("finish_project", "projectId"), tool("plan_project", "goal")
    helpers = [tool(name, "projectId", "taskId") for name in ("mark_task_done", "approve_task")]
    made: Calls = (("plan_project", {"goal": "Paint the shed"}),)
    assert accepted_share([finish, plan, *helpers], answer, [made], calls=100) > 0.4
    assert not accepted_share([finish, plan, helpers[0]], answer, [made], calls=100)


def test_what_a_helper_asks_for_comes_before_the_helper() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "set_mode":
            state["mode"] = given["mode"] == "archive"
            return state["mode"], "set" if state["mode"] else "Invalid mode. Valid modes are: archive, index"
        if name == "open_vault":
            state["open"] = state.get("mode", False)
            return state["open"], "opened" if state["open"] else "Use set_mode first."
        is_open = bool(state.pop("open", False))
        state.clear()
        return is_open, "read" if is_open else "Use open_vault first."

    tools = [tool("peek", "word"), tool("open_vault", "name"), tool("set_mode", "mode")]
    assert accepted_share(tools, answer) > 0.4
    assert not accepted_share(tools[:2], answer)


def test_refusals_that_name_everything_do_not_make_endless_chains() -> None:
    names = [f"make_{word}" for word in ("apple", "bread", "cheese", "date", "egg", "fig")]
    longest = 0

    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        state["calls"] = state.get("calls", 0) + 1
        return False, f"{'?' * (state['calls'] % 90)} Use {' or '.join(names)} first."

    fuzzer = Fuzzer([tool("eat", "what")], 1, helpers=[tool(name, "from") for name in names])
    state: State = {}
    for attempt in (attempt for _ in range(300) for attempt in fuzzer.ask(12)):
        longest = max(longest, len(attempt.calls))
        told = [answer(call.tool, {}, state)[1] for call in attempt.calls]
        refused = [Judged("refused", message=text) for text in told]
        fuzzer.tell(attempt, [Reaction("returned", text=text, size=len(text)) for text in told], refused)
    assert 3 <= longest <= 9


def test_a_tool_that_is_given_nothing_needs_another_state() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        if name == "process_merge_command":
            state["on"] = True
            return True, "merging"
        return bool(state.pop("on", False)), "Merge mode is not active."

    tools = [tool("complete_merge"), tool("read_merge", "name"), tool("process_merge_command", "command")]
    assert accepted_share(tools, answer, calls=20) > 0.4
    assert not accepted_share(tools[:2], answer, calls=20)


def test_markup_that_a_refusal_asks_for_is_given() -> None:
    def answer(_: str, given: dict[str, Any], __: State) -> tuple[bool, str]:
        is_fine = given["content"].startswith("<mxGraphModel")
        return is_fine, "set" if is_fine else "The content must be plain <mxGraphModel> XML."

    assert accepted_share([tool("set_page", "content")], answer) > 0.4


def test_a_url_that_needs_no_network_is_tried_where_there_is_none() -> None:
    described = tool("compress", optional={"source": {"type": "string", "default": "https://example.com/a"}})
    fuzzer = Fuzzer([described], 1, files=FILES)
    offline = Judged("environment", "there is no network: fetch failed", message="fetch failed")
    given = list[str | None]()
    while len(given) < 4 and (attempts := fuzzer.ask(1)):
        for attempt in attempts:
            given.append(json.loads(attempt.calls[-1].arguments).get("source"))
            failed = Reaction("returned", text="fetch failed", size=12, flagged=True)
            fuzzer.tell(attempt, [failed] * len(attempt.calls), [offline] * len(attempt.calls))
    assert {"data:text/plain;base64,SGVsbG8=", f"file://{FILES[3]}"} <= {*given}


def test_names_without_ending_are_not_tried_where_they_cannot_be_meant() -> None:
    def refused_with(told: str) -> set[str]:
        fuzzer, given = Fuzzer([tool("show", "subject")], 1, files=FILES), set[str]()
        while len(given) < 20 and (attempts := fuzzer.ask(1)):
            for attempt in attempts:
                value = json.loads(attempt.calls[-1].arguments).get("subject")
                given.add(str(value))
                reaction = Reaction("returned", text=told.format(value), size=9)
                fuzzer.tell(attempt, [reaction], [Judged("refused", message=reaction.text)])
        return given

    assert "notes" in refused_with("There is no document {}")
    assert "notes" not in refused_with("Document {} not supported: only .drawio files are")
    assert "notes" not in refused_with("open {}: no such file or directory")


def test_an_accepted_call_is_repeated_where_its_variations_are_refused() -> None:
    def answer(name: str, given: dict[str, Any], state: State) -> tuple[bool, str]:
        link = [given.get(part) for part in parts]
        if name == "create_link":
            state["link"] = link
            return True, "created"
        is_fine = state.pop("link", None) == link
        return is_fine, "updated" if is_fine else "Link not found"

    parts = ("source", "target", "kind")
    made: Calls = (("create_link", {"source": "ada", "target": "tom", "kind": "knows"}),)
    assert accepted_share([tool("update_link", *parts), tool("create_link", *parts)], answer, [made]) > 0.25


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
