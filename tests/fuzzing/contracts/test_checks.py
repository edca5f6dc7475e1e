"""Which sequences of calls break a contract, and which only seem to."""

import json
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, FileChange, Invocation, Promises, Reaction
from misstep.fuzzing.contracts.checks import experiments, judge_sequences_of
from misstep.fuzzing.contracts.promises import promises_of
from misstep.fuzzing.contracts.security import COMPUTED, SECRET
from misstep.fuzzing.contracts.steps import Toolkit

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
NOTHING = Promises()


def tool(named: str, description: str, promises: Promises = NOTHING, /, **parameters: Any) -> Described:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return Described(Tool(named, description, schema), "mcp", promises=promises)


def call(named: str, /, **arguments: Any) -> Invocation:
    return Invocation(named, json.dumps(arguments))


def answer(text: str = "done", *changes: FileChange) -> Reaction:
    return Reaction("returned", text=text, size=len(text), changes=changes)


def refusal(text: str = "there is no such note") -> Reaction:
    return Reaction("returned", text=text, size=len(text), flagged=True)


WRITE = tool("write_note", "Write a note.", name=TEXT, content=TEXT)
READ = tool("read_note", "The text of a note.", name=TEXT)
DELETE = tool("delete_note", "Delete a note.", name=TEXT)
LIST = tool("list_notes", "List all notes.")
PAGES = tool("browse", "Notes, in pages.", limit=NUMBER, offset=NUMBER)
SAFE = tool("get_size", "The size.", Promises(read_only=True))
ADD = tool("add_line", "Add a line.", Promises(destructive=False), line=TEXT)
SET = tool("set_flag", "Set a flag.", Promises(idempotent=True), flag=TEXT)
ATOMIC = tool("import_rows", "Atomic: nothing is changed if a row is wrong.", rows=TEXT)
TOOLS = [WRITE, READ, DELETE, LIST, PAGES, SAFE, ADD, SET, ATOMIC]

MADE = FileChange("a.txt", "created")
CUT = FileChange("a.txt", "changed", lost=True)
GROWN = FileChange("a.txt", "changed")


def judge(*steps: tuple[Invocation, Reaction]) -> Judged:
    return judge_sequences_of(TOOLS)([made for made, _ in steps], [reaction for _, reaction in steps])


def broken(*steps: tuple[Invocation, Reaction]) -> str:
    """The contract that is broken; empty if none is."""
    judged = judge(*steps)
    return judged.error if judged.ruling in ("contract", "security") else ""


def test_promises_are_annotations_or_words() -> None:
    assert [promise.words for promise in promises_of(SAFE)] == ["readOnlyHint: true"]
    (promise,) = promises_of(ATOMIC)
    assert (promise.contract, promise.words) == (
        "all or nothing",
        '"Atomic: nothing is changed if a row is wrong."',
    )
    assert not list(promises_of(tool("drop", "Never changes a thing.", Promises(read_only=False))))


def test_what_may_be_changed() -> None:
    size, line, flag = call("get_size"), call("add_line", line="x"), call("set_flag", flag="x")
    assert broken((size, answer("3", MADE))) == "read-only"
    assert broken((size, answer("3"))) == ""
    assert broken((line, answer("done", GROWN))) == ""
    assert broken((line, answer("done", CUT))) == "not destructive"
    assert broken((flag, answer("done", MADE))) == ""
    assert broken((flag, answer("done", MADE)), (flag, answer("done", GROWN))) == "idempotent"
    assert broken((flag, answer("done", MADE)), (call("set_flag", flag="y"), answer("done", GROWN))) == ""
    rows = call("import_rows", rows="1,x")
    assert broken((rows, refusal("not a number: x"))) == ""
    assert broken((rows, Reaction("returned", text="not a number", flagged=True, changes=(MADE,)))) == (
        "all or nothing"
    )


def test_what_others_read_afterwards() -> None:
    look, size = call("list_notes"), call("get_size")
    before = [(look, answer('["a"]')), (look, answer('["a"]'))]
    assert broken(*before, (size, answer("3")), (look, answer('["a", "b"]'))) == "read-only"
    assert broken(*before, (size, answer("3")), (look, answer('["a"]'))) == ""
    unsteady = [(look, answer('["a"]')), (look, answer('["b"]'))]
    assert broken(*unsteady, (size, answer("3")), (look, answer('["c"]'))) == ""
    write = call("write_note", name="b", content="x")
    judged = judge(*before, (write, answer()), (look, refusal("the file is damaged")))
    assert (judged.error, judged.tool) == ("still readable", "write_note")


def round_trip(name: str, written: str, read: str) -> list[tuple[Invocation, Reaction]]:
    return [
        (call("write_note", name=name, content=written), answer()),
        (call("read_note", name=name), answer(read)),
    ]


def test_what_is_written_is_read_back() -> None:
    control = round_trip("a", "one\ntwo", "one\ntwo")
    assert broken(*control, *round_trip("b", "x\r\n", "x\n")) == "read back"
    assert broken(*control, *round_trip("b", "x\r\n", "Note b:\nx\r\n")) == ""
    assert broken(*control, *round_trip("b", "x\r\n", json.dumps({"text": "x\r\n"}))) == ""
    numbered = round_trip("a", "one\ntwo", "1 one\n2 two")
    assert broken(*numbered, *round_trip("b", "x\r\n", "1 x")) == ""


def test_what_is_deleted_is_gone() -> None:
    made = round_trip("a", "first line\nsecond line", "first line\nsecond line")
    gone, look = call("delete_note", name="a"), call("read_note", name="a")
    assert broken(*made, (gone, answer()), (look, answer("first line\nsecond line"))) == "deleted"
    assert broken(*made, (gone, answer()), (look, refusal())) == ""
    assert broken(*made, (gone, refusal()), (look, answer("first line\nsecond line"))) == ""


def test_nothing_else_is_changed() -> None:
    look, other = call("read_note", name="a"), call("delete_note", name="b")
    before = [*round_trip("a", "x", "x"), (look, answer("x"))]
    judged = judge(*before, (other, answer()), (look, refusal()))
    assert (judged.error, judged.tool) == ("nothing else", "delete_note")
    assert broken(*before, (other, answer()), (look, answer("x"))) == ""
    assert broken(*before, (call("delete_note", name="a"), answer()), (look, refusal())) == ""


@pytest.mark.parametrize(
    ("listed", "contract"),
    [
        ('["alpha", "bravo"]', ""),
        ('["alpha"]', "listed once"),
        ('["alpha", "bravo", "bravo"]', "listed once"),
    ],
)
def test_lists_hold_everything_once(listed: str, contract: str) -> None:
    look = call("list_notes")
    steps = [
        (call("write_note", name="alpha", content="x"), answer()),
        (look, answer('["alpha"]')),
        (call("write_note", name="bravo", content="x"), answer()),
        (look, answer(listed)),
    ]
    assert broken(*steps) == contract


@pytest.mark.parametrize(
    ("pages", "contract"),
    [
        ([[1, 2], [3, 4], [5], []], ""),
        ([[1], [3], [5], []], "pages"),
        ([[1, 2], [2, 3], [4, 5], []], "pages"),
        ([[1, 2, 3], [3, 4], [5], []], ""),  # the size of a page means something else
    ],
)
def test_pages_add_up(pages: list[list[int]], contract: str) -> None:
    whole = (call("browse", limit=50, offset=0), answer("[1, 2, 3, 4, 5]"))
    steps = [
        (call("browse", limit=2, offset=2 * number), answer(json.dumps(page)))
        for number, page in enumerate(pages)
    ]
    assert broken(whole, *steps) == contract


def test_errors_are_marked_as_such() -> None:
    assert broken((call("read_note", name="a"), answer("Error: there is no such note"))) == "error flag"
    assert broken((call("read_note", name="a"), refusal("Error: there is no such note"))) == ""
    assert broken((call("read_note", name="error"), answer("Error: there is no such note"))) == ""


def test_ways_out_are_told_from_open_doors() -> None:
    plain, trick = call("read_note", name="/elsewhere"), call("read_note", name="../elsewhere")
    assert broken((plain, refusal("access denied")), (trick, answer(SECRET))) == "path outside"
    assert broken((plain, answer(SECRET)), (trick, answer(SECRET))) == ""
    assert broken((plain, refusal("access denied")), (trick, refusal("access denied"))) == ""


def test_values_that_are_executed() -> None:
    (given, *_) = [
        calls[0]
        for calls in experiments(
            Toolkit({"read_note": READ}, {"read_note": [(call("read_note", name="a"),)]})
        )
        if "echo misstep" in calls[0].arguments
    ]
    assert broken((given, answer(f"about {COMPUTED}"))) == "injection"
    assert broken((given, answer(f"about {json.loads(given.arguments)['name']}"))) == ""
    assert broken((call("read_note", name=COMPUTED), answer(COMPUTED))) == ""


def test_each_experiment_is_made_once_and_fits_the_tools() -> None:
    accepted = {
        "write_note": [(call("write_note", name="a.txt", content="x"),)],
        "list_notes": [(call("list_notes"),)],
    }
    made = list(experiments(Toolkit({each.name: each for each in TOOLS}, accepted)))
    assert len(made) == len({*made}) > 10
    names = {each.name for each in TOOLS}
    assert {invocation.tool for calls in made for invocation in calls} <= names
