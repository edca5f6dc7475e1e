"""Which calls are kept, and what other tools get of them."""

import json
import sys
import threading

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts.samples import MOST_ALONE, MOST_PREPARED, CallSamples
from misstep.fuzzing.returned import MOST_TOLD
from tests.fuzzing.contracts.test_checks import call

FINE, REFUSED = Judged("fine"), Judged("refused", message="no")
DONE = Reaction("returned", text="done")


def described(name: str, *parameters: str) -> Described:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return Described(Tool(name, "", schema), "mcp")


def samples_of(*sequences: tuple[Invocation, ...]) -> CallSamples:
    samples = CallSamples()
    for calls in sequences:
        samples.add(calls, FINE, DONE)
    return samples


def test_a_few_plain_and_short_calls_are_kept() -> None:
    odd, plain = call("open_file", path="\0"), call("open_file", path="a.txt")
    others = [(call("open_file", path=f"folder/{number}.txt"),) for number in range(20)]
    prepared = [(call("make_file", path="a.txt"), each[0]) for each in others]
    again = [(plain, plain), (plain, odd)]
    kept = samples_of((odd,), *others, (plain,), *again, *prepared, (plain,)).accepted["open_file"]
    assert [len(calls) for calls in kept] == [2] * MOST_PREPARED + [1] * MOST_ALONE
    assert (plain,) in kept
    assert not {*again} & {*kept}
    assert (odd,) not in kept


def test_one_refusal_of_each_sort_is_kept() -> None:
    samples = CallSamples()
    for text in ("a", "b", "c"):
        samples.add([call("open_file", path=text)], REFUSED, DONE)
    samples.add([call("open_file", path="d")], Judged("refused", message="other"), DONE)
    samples.add([call("open_file", path="e")], FINE, Reaction("died"))
    assert samples.refused == {"open_file": [(call("open_file", path="a"),), (call("open_file", path="d"),)]}
    assert samples.accepted == {}


def test_what_makes_something_prepares_for_what_needs_it() -> None:
    note, card = call("create_note", name="a"), call("create_card", name="b")
    odd, look = call("create_note", name="\0"), call("read_note", name="a")
    samples = samples_of((odd,), (card,), (look,), (note,))
    tools = [described(name, "name") for name in ("create_note", "create_card", "read_note", "delete_note")]
    assert samples.preparations_for(tools[3], tools) == [(note,), (note, card)]
    assert samples.preparations_for(described("describe", "text"), tools) == [(card,), (note,), (note, card)]
    assert samples.preparations_for(tools[0], tools) == []
    assert samples.preparations_for(tools[3], tools[1:]) == [(card,)]


def test_what_needs_an_id_to_make_something_is_prepared_and_prepares() -> None:
    board, card = call("create_board", name="a"), call("add_card", board_id="7", text="b")
    samples = samples_of((board,), (board, card), (card,))  # the last with an id of one process
    tools = [
        described("create_board", "name"),
        described("add_card", "board_id", "text"),
        described("show_card", "card_id"),
    ]
    assert samples.preparations_for(tools[0], tools) == []
    assert samples.preparations_for(tools[1], tools) == [(board,)]
    assert samples.preparations_for(tools[2], tools) == [(board, card), (board, board, card)]
    marked = call("add_card", board_id="${result.id}", text="b")
    assert (board, card) not in samples_of((board,), (board, card), (board, marked)).preparations_for(
        tools[2], tools
    )


def test_values_that_were_accepted_are_tried_elsewhere() -> None:
    samples = samples_of(
        (call("create_sheet", path="/book.xlsx", name="Sheet2"),), (call("read_sheet", path="/other.xlsx"),)
    )
    tools = [described("create_sheet", "path", "name"), described("read_sheet", "path")]
    assert samples.hints_for(described("read_cell", "path", "cell"), tools) == {"path": ["/book.xlsx"]}


def test_what_returns_the_values_that_a_tool_needs_prepares_for_it() -> None:
    plan, start = call("plan_trip", to="Oslo"), call("start_task", name="a")
    samples = samples_of((start,))
    samples.add([plan], FINE, Reaction("returned", text='{"requestId": "req-1"}'))
    tools = [described("start_task", "name"), described("plan_trip", "to")]
    together = (start, plan)
    assert samples.preparations_for(described("approve", "requestId"), tools) == [(plan,), together]
    assert samples.preparations_for(described("next_task", "requestId"), tools) == [
        (plan,),
        (start,),
        together,
    ]


def test_the_call_that_returned_most_prepares_first() -> None:
    calls = [call("load_table", content=text) for text in ("a", "id,name", "id,name,price", "b")]
    samples = CallSamples()
    for made in calls:
        columns = json.loads(made.arguments)["content"].split(",")
        samples.add([made], FINE, Reaction("returned", text=json.dumps({"id": "t-1", "columns": columns})))
    tools = [described("load_table", "content"), described("sum_table", "id")]
    assert samples.preparations_for(tools[1], tools) == [(calls[2],), (calls[0],)]


def test_a_snapshot_prepares_alike_and_is_not_added_to() -> None:
    made, read = call("create_note", name="a"), described("read_note", "name")
    tools = [described("create_note", "name"), read]
    samples = samples_of((made,))
    snapshot = samples.snapshot()
    samples.add([call("create_note", name="b")], FINE, Reaction("returned", text='{"name": "b"}'))
    assert snapshot.preparations_for(read, tools) == [(made,)]
    assert snapshot.hints_for(read, tools) == {"name": ["a"]}
    assert len(samples.preparations_for(read, tools)) == 2


def test_what_lists_things_prepares_for_what_takes_their_ids() -> None:
    boards, about = call("list_boards"), call("get_server_info")
    samples = CallSamples()
    samples.add([boards], FINE, Reaction("returned", text='[{"id": "b-1", "name": "Garden"}]'))
    samples.add([about], FINE, Reaction("returned", text='{"id": "s", "name": "boards"}'))
    tools = [described("list_boards"), described("get_server_info"), described("start_board", "board_id")]
    assert samples.preparations_for(tools[2], tools) == [(boards,)]
    assert samples.preparations_for(described("show_card", "name"), tools) == []


def test_calls_are_added_while_others_are_prepared() -> None:
    samples, reader = CallSamples(), described("read_note", "name")
    tools = [described(f"create_{number}", "name") for number in range(2_000)]
    made = Reaction("returned", text='{"name": "a"}')
    failures, is_done = list[Exception](), threading.Event()

    def prepare() -> None:
        while not is_done.is_set():
            try:
                samples.preparations_for(reader, tools)
                samples.hints_for(reader, tools)
            except Exception as error:
                failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=prepare)
    thread.start()
    try:
        for tool in tools:
            samples.add([call(tool.name, name="a")], FINE, made)
    finally:
        is_done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert failures == []


def test_few_names_of_a_tool_are_kept() -> None:
    samples = CallSamples()
    for number in range(2 * MOST_TOLD):
        named = {"board_id": number, f"b-{number}": number}
        samples.add([call("list_boards")], FINE, Reaction("returned", text=json.dumps(named)))
    assert len(samples._told["list_boards"]) == MOST_TOLD
    assert len(samples.snapshot()._told["list_boards"]) == MOST_TOLD
    tools = [described("list_boards"), described("start_board", "board_id")]
    assert samples.preparations_for(tools[1], tools) == [(call("list_boards"),)]


def test_results_of_functions_are_not_read() -> None:
    boards, samples = call("list_boards"), CallSamples()
    samples.add([boards], FINE, Reaction("returned", text='[{"id": "b-1"}]'), by_server=False)
    tools = [described("list_boards"), described("start_board", "board_id")]
    assert samples.preparations_for(tools[1], tools) == []
