"""Which sequences of calls break a contract, and which only seem to."""

import json
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, FileChange, Invocation, Promises, Reaction
from misstep.fuzzing.contracts.checks import experiments, judge_sequences_of, next_of, read_steps_of
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
OFFLINE = tool("count_words", "Works offline.", text=TEXT)
ATOMIC = tool("import_rows", "Atomic: nothing is changed if a row is wrong.", rows=TEXT)
TOOLS = [WRITE, READ, DELETE, LIST, PAGES, SAFE, ADD, SET, ATOMIC, OFFLINE]

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
    assert not list(promises_of(tool("update_title", "Updates a title without changing the text.")))
    assert list(promises_of(tool("get_title", "Gets a title without changing the text.")))


def test_what_may_be_changed() -> None:
    size, line, flag = call("get_size"), call("add_line", line="x"), call("set_flag", flag="x")
    assert broken((size, answer("3", MADE))) == "read-only"
    assert broken((size, answer("3"))) == ""
    assert broken((line, answer("done", GROWN))) == ""
    assert broken((line, answer("done", CUT))) == "not destructive"
    assert broken((flag, answer("done", MADE))) == ""
    assert broken((flag, answer("done", MADE)), (flag, answer("done", GROWN))) == "idempotent"
    rewritten = FileChange("memory.DB", "changed")
    assert broken((flag, answer("done", MADE)), (flag, answer("done", rewritten))) == ""
    assert broken((flag, answer("done", MADE)), (flag, answer("done", rewritten, MADE))) == "idempotent"
    assert broken((flag, answer("done", MADE)), (call("set_flag", flag="y"), answer("done", GROWN))) == ""
    rows = call("import_rows", rows="1,x")
    assert broken((rows, refusal("not a number: x"))) == ""
    assert broken((rows, Reaction("returned", text="not a number", flagged=True, changes=(MADE,)))) == (
        "all or nothing"
    )


def test_what_may_be_changed_at_home() -> None:
    size, flag, rows = call("get_size"), call("set_flag", flag="x"), call("import_rows", rows="1,x")
    made, cut = FileChange("~/.shop/a.txt", "created"), FileChange("~/.shop/a.txt", "changed", lost=True)
    assert broken((size, answer("3", made))) == ""  # a file that is made when it is needed
    assert broken((size, answer("3", FileChange("~/.shop/a.db", "changed")))) == ""
    assert broken((size, answer("3", made)), (size, answer("3", cut))) == "read-only"
    assert broken((call("add_line", line="x"), answer("done", cut))) == "not destructive"
    assert broken((flag, answer("done", made)), (flag, answer("done", made))) == "idempotent"
    failed = [
        Reaction("returned", text="not a number", flagged=True, changes=(each,)) for each in (made, cut)
    ]
    assert [broken((rows, each)) for each in failed] == ["", "all or nothing"]


def test_what_is_changed_at_home_after_the_first_call() -> None:
    size, file = call("get_size"), "~/.stats.json"  # in which it counts its calls
    accepted = [(call("get_size"),), (call("get_size", unit="B"),)]
    read, made = read_steps_of([SAFE]), list[tuple[Invocation, ...]]()
    proposed, found = experiments(Toolkit({"get_size": SAFE}, {"get_size": accepted})), set[str]()
    steps = None
    while (calls := next_of(proposed, steps)) is not None:
        made.append(calls)
        reactions = [
            answer("3", FileChange(file, "changed" if place else "created")) for place in range(len(calls))
        ]
        steps = read(calls, reactions)
        if all(each.sent == "in turn" for each in calls):
            found.add(judge_sequences_of([SAFE])(calls, reactions).error)
    assert found == {"", "read-only"}
    assert [calls for calls in made if len(calls) == 2] == [(size, size)]


def test_what_others_read_afterwards() -> None:
    look, size = call("list_notes"), call("get_size")
    before = [(look, answer('["a"]')), (look, answer('["a"]'))]
    assert broken(*before, (size, answer("3")), (look, answer('["a", "b"]'))) == "read-only"
    assert broken(*before, (size, answer("3")), (look, answer('["a"]'))) == ""
    unsteady = [(look, answer('["a"]')), (look, answer('["b"]'))]
    assert broken(*unsteady, (size, answer("3")), (look, answer('["c"]'))) == ""
    rows = call("import_rows", rows="1,x")
    assert broken(*before, (rows, refusal("not a number: x")), (look, answer('["a", "1"]'))) == (
        "all or nothing"
    )
    assert broken(*before, (rows, refusal("not a number: x")), (look, answer('["a"]'))) == ""
    assert broken(*before, (rows, answer("imported")), (look, answer('["a", "1"]'))) == ""
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
    cancelled = answer("Deletion cancelled for safety. Use force: true to confirm.")
    assert broken(*made, (gone, cancelled), (look, answer("first line\nsecond line"))) == ""
    assert broken(*made, (gone, answer()), (look, refusal())) == ""
    assert broken(*made, (gone, refusal()), (look, answer("first line\nsecond line"))) == ""


def test_nothing_else_is_changed() -> None:
    look, other = call("read_note", name="a"), call("delete_note", name="b")
    before = [*round_trip("a", "x", "x"), (look, answer("x"))]
    judged = judge(*before, (other, answer()), (look, refusal()))
    assert (judged.error, judged.tool) == ("nothing else", "delete_note")
    assert broken(*before, (other, answer()), (look, answer("x"))) == ""
    assert broken(*before, (call("delete_note", name="a"), answer()), (look, refusal())) == ""
    for about, changed in (("", "new"), (".", "new"), ("docs", "docs/new"), ("docs/a", "docs")):
        folder = call("read_note", name=about)
        around = [*round_trip(about, "x", "x"), (folder, answer("x"))]
        assert broken(*around, (call("delete_note", name=changed), answer()), (folder, answer("y"))) == ""


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ('["alpha", "bravo"]', ""),
        ('["alpha"]', "after write_note, it doesn't list 'bravo'"),
        ('["alpha", "bravo", "bravo"]', "after write_note, it lists 'bravo' 2 times"),
    ],
)
def test_lists_hold_everything_once(listed: str, told: str) -> None:
    look = call("list_notes")
    steps = [
        (call("write_note", name="alpha", content="x"), answer()),
        (look, answer('["alpha"]')),
        (call("write_note", name="bravo", content="x"), answer()),
        (look, answer(listed)),
    ]
    judged = judge(*steps)
    assert (judged.error, judged.message) == (("listed once", told) if told else ("", ""))


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


@pytest.mark.parametrize(
    "text",
    [
        "Successfully saved note a",
        "Note saved successfully.",
        "✅ The note 'a' was successfully created at 10:00",
        '{"success": true, "id": 3}',
        "Success",
    ],
)
def test_success_is_not_marked_as_an_error(text: str) -> None:
    assert broken((call("write_note", name="a", content="x"), refusal(text))) == "success flagged"
    assert broken((call("write_note", name="a", content="x"), answer(text))) == ""
    assert broken((call("write_note", name="a", content="Success"), refusal(text))) == ""


@pytest.mark.parametrize(
    "text",
    [
        "The note was not saved successfully",
        "Successfully saved 0 notes",
        "Successfully connected, but the note is missing",
        "Saved 3 notes successfully, 1 failed",
        "Unsuccessful",
        "The note must be saved successfully first",
        '{"success": true, "error": "no such note"}',
        '{"success": false}',
        "successful payments are listed only for admins",
        "Note a: done",
        "The upload was successfully rejected",
        "Successfully connected; server returned 500",
        "Exited successfully with status 1",
        "Command executed successfully. Exit code: 1",
        "Validation successfully found 3 problems",
    ],
)
def test_doubtful_success_may_be_an_error(text: str) -> None:
    assert broken((call("write_note", name="a", content="x"), refusal(text))) == ""


def test_ways_out_are_told_from_open_doors() -> None:
    plain, trick = call("read_note", name="/elsewhere"), call("read_note", name="../elsewhere")
    assert broken((plain, refusal("access denied")), (trick, answer(SECRET))) == "path outside"
    assert broken((plain, refusal("File not found: folder/etc/passwd")), (trick, answer(SECRET))) == ""
    assert broken((plain, answer(SECRET)), (trick, answer(SECRET))) == ""
    assert broken((plain, refusal("access denied")), (trick, refusal("access denied"))) == ""


def test_ways_out_of_lists_and_objects() -> None:
    paths = {"type": "array", "items": TEXT}
    read = tool("read_files", "The texts of files.", paths=paths, book={"type": "object"})
    given = {"paths": ["a.txt", "b.txt"], "book": {"cover_file": "c.png", "title": "x"}}
    kit = Toolkit(
        {"read_files": read}, {"read_files": [(call("read_files", **given),)]}, folder="/tmp/x/work"
    )
    tried = [json.loads(calls[-1].arguments) for calls in experiments(kit)]
    outside = "/tmp/x/outside/secret.txt"
    assert {**given, "paths": [outside]} in tried
    assert {**given, "book": {**given["book"], "cover_file": outside}} in tried
    plain, trick = (
        call("read_files", **{**given, "paths": [path]}) for path in ("/elsewhere", "../elsewhere")
    )
    judge = judge_sequences_of([read])
    for said, ruling in (("/elsewhere: access denied", "security"), ("/elsewhere: it is empty", "fine")):
        assert judge([plain, trick], [answer(said), answer(SECRET)]).ruling == ruling


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


def test_few_makers_are_tried_for_each_tool() -> None:
    kinds = [letter * 5 for letter in "abcdefghijklmnop"]
    makers = [tool(f"create_{kind}_note", "Create.", name=TEXT) for kind in kinds]
    readers = [tool(f"read_{kind}_note", "Read.", name=TEXT) for kind in kinds]
    accepted = {each.name: [(call(each.name, name="a"),)] for each in makers}
    proposed = experiments(Toolkit({each.name: each for each in (*makers, *readers)}, accepted))
    pairs = [calls for calls in proposed if len(calls) == 2 and calls[-1].tool.startswith("read")]
    assert len(pairs) == 2 * len(readers)
    assert (call("create_ggggg_note", name="a"), call("read_ggggg_note", name="a")) in pairs


def test_no_other_maker_is_tried_after_one_that_helps() -> None:
    tools = [WRITE, tool("write_note_again", "Write.", name=TEXT), READ]
    accepted = {each.name: [(call(each.name, name="a"),)] for each in tools[:2]}
    proposed = experiments(Toolkit({each.name: each for each in tools}, accepted))
    first = next_of(proposed, None)
    assert first == (call("write_note", name="a"), call("read_note", name="a"))
    steps = read_steps_of(tools)(first, [answer(), answer("x")])
    second = next_of(proposed, steps)
    assert second is not None
    assert second[0].tool != "write_note_again" or second[-1].tool != "read_note"


@pytest.mark.parametrize(
    ("between", "background", "contract"),
    [
        ("list_notes", 0, "closed world"),
        ("list_notes", 1, ""),  # so it goes on without calls
        ("count_words", 0, "closed world"),
        ("count_words", 1, ""),
    ],
)
def test_calls_that_reach_the_network(between: str, background: int, contract: str) -> None:
    count = call("count_words", text="a")
    reached = Reaction("returned", text="1", connections=2, background=background)
    middle = (count, reached) if between == "count_words" else (call(between), answer("[]"))
    assert broken((count, reached), middle, (count, reached)) == contract
    assert broken((count, reached), middle, (count, answer("1"))) == ""
    failed = Reaction("returned", text="not now", flagged=True, connections=2)
    assert broken((count, failed), middle, (count, failed)) == ""
    busy = Reaction("returned", text="[]", connections=1)
    assert broken((count, reached), (call("list_notes"), busy), (count, reached)) == ""


def test_a_tool_alone_is_its_own_control() -> None:
    count, look = call("count_words", text="a"), call("list_notes")
    alone = experiments(Toolkit({"count_words": OFFLINE}, {"count_words": [(count,)]}))
    assert (count, count, count) in [*alone]
    tools = {"count_words": OFFLINE, "list_notes": LIST}
    made = [*experiments(Toolkit(tools, {"count_words": [(count,)], "list_notes": [(look,)]}))]
    assert (count, look, count) in made
    assert (count, count, count) not in made
