"""What cancelled calls and calls at once may lead to, and what not."""

import json
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Promises, Raised, Reaction, Sending
from misstep.fuzzing.contracts import protocol
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.contracts.steps import Calls, Toolkit


def tool(named: str, *names: str) -> Described:
    properties = {name: {"type": "string"} for name in names}
    schema = {"type": "object", "properties": properties, "required": list(names)}
    return Described(Tool(named, f"{named}.", schema), "mcp")


TOOLS = [tool("add_guest", "guest"), tool("list_guests"), tool("get_length", "word")]
LOOK = Invocation("list_guests", "{}")
ONE, OTHER = (Invocation("add_guest", json.dumps({"guest": guest})) for guest in ("harbour", "meadow"))


def said(text: str, **more: Any) -> Reaction:
    return Reaction("returned", text=text, size=len(text), **more)


def judge(calls: Calls, *texts: str | Reaction) -> Judged:
    reactions = [said(each) if isinstance(each, str) else each for each in texts]
    return judge_sequences_of(TOOLS)(calls, reactions)


CANCELLED = (LOOK, LOOK, replace(ONE, sent="cancelled"), LOOK)


def test_a_cancelled_call_harms_no_other() -> None:
    died, hung = Reaction("died", detail="it ended"), Reaction("hung", detail="no answer")
    assert judge(CANCELLED, "[]", "[]", "", '["harbour"]').ruling == "fine"  # it was too late to cancel it
    assert judge(CANCELLED, "[]", "[]", "", died).error == "cancellation"
    assert judge(CANCELLED, "[]", "[]", died, "[]").error == "cancellation"
    assert judge(CANCELLED, "[]", "[]", "", hung).error == "cancellation"
    refused = judge(CANCELLED, "[]", "[]", "", said("the request was cancelled", flagged=True))
    assert (refused.error, refused.tool) == ("cancellation", "list_guests")
    # Its reply, or another sort of answer, may have come first.
    error = Reaction("raised", raised=Raised("ServerError", "the guest exists already"))
    assert judge(CANCELLED, "[]", "[]", error, "[]").ruling == "fine"
    assert judge(CANCELLED, "[]", "[]", Reaction("garbled", detail="{"), "[]").ruling == "fine"
    # What was cancelled may have changed what the other call needs.
    assert judge(CANCELLED, "[]", "[]", "", said("no such guest", flagged=True)).error != "cancellation"
    assert judge(CANCELLED, "[]", said("no", flagged=True), "", died).ruling == "crash"  # without a control


def test_only_calls_that_say_so_count_as_reading() -> None:
    tools = [tool("navigate_to", "url"), tool("get_text")]
    look, going = Invocation("get_text", "{}"), Invocation("navigate_to", '{"url": "a"}', sent="cancelled")
    texts = [said("a"), said("a"), said(""), said("no page is open", flagged=True)]
    assert judge_sequences_of(tools)((look, look, going, look), texts).error != "cancellation"
    reading = replace(tools[0], promises=Promises(read_only=True))
    found = judge_sequences_of([reading, tools[1]])((look, look, going, look), texts)
    assert found.error == "cancellation"


TIMED_OUT = (LOOK, LOOK, replace(ONE, sent="timed out"), LOOK)


def test_after_a_time_out_the_server_goes_on_answering() -> None:
    died, hung = Reaction("died", detail="it ended"), Reaction("hung", detail="no answer")
    found = judge(TIMED_OUT, "[]", "[]", "", hung)
    assert (found.ruling, found.error, found.tool) == ("contract", "time-out", "add_guest")
    assert judge(TIMED_OUT, "[]", "[]", "", died).error == "time-out"
    assert judge(TIMED_OUT, "[]", "[]", "", '["harbour"]').ruling == "fine"
    assert judge(TIMED_OUT, "[]", "[]", "", said("busy", flagged=True)).error != "time-out"
    assert judge(TIMED_OUT, "[]", "[]", "invited", hung).ruling == "hang"  # there was a reply
    assert judge(TIMED_OUT, "[]", said("no", flagged=True), "", hung).ruling == "hang"  # without a control


def test_calls_are_cancelled_until_one_harms_another() -> None:
    look, other = TOOLS[1], tool("get_weather")
    calls = {each.name: [(Invocation(each.name, "{}"),)] for each in (look, other)}
    proposed = protocol.experiments(Toolkit({each.name: each for each in (look, other)}, calls))
    cancelled = []
    for made in proposed:
        cancelled += [call.tool for call in made if call.sent == "cancelled"]
    assert cancelled == ["list_guests", "get_weather"]


def test_a_call_of_an_unlisted_tool_is_an_error() -> None:
    calls = (replace(ONE, sent="unlisted"),)
    found = judge(calls, "invited")
    assert (found.ruling, found.error, found.tool) == ("contract", "unlisted tool", "add_guest")
    assert found.message == "calling 'misstep_unlisted_tool', which it does not list, succeeds: invited"
    assert judge(calls, "there is no such tool").error == "unlisted tool"
    assert judge(calls, "Error: unknown tool").error == "error flag"
    assert judge(calls, said("there is no such tool", flagged=True)).ruling == "fine"
    error = Raised("ServerError", "Cannot read properties of undefined (reading 'handler')")
    assert judge(calls, Reaction("raised", raised=error)).ruling == "fine"
    assert judge(calls, Reaction("died", detail="it ended")).ruling == "crash"
    function = replace(TOOLS[0], kind="function")
    assert judge_sequences_of([function])(calls, [said("invited")]).ruling == "fine"


def test_each_server_gets_one_call_of_an_unlisted_tool() -> None:
    places = {"add_guest": "server a", "list_guests": "server a", "get_length": "server b"}
    tools = {each.name: replace(each, where=places[each.name]) for each in TOOLS}
    made = list(protocol.experiments(Toolkit(tools, {"add_guest": [(LOOK, ONE)]})))
    nothing = Invocation("get_length", "{}")
    assert made == [(replace(call, sent="unlisted"),) for call in (ONE, nothing)]


ORDERS = ("harbour, meadow", "meadow, harbour")


def in_all_orders(together: tuple[str, str, str], guests: str = "[]", listed: str = "") -> Judged:
    first, at_once = replace(LOOK, sent="afresh"), replace(ONE, sent="together")
    calls = (first, ONE, OTHER, LOOK, first, OTHER, ONE, LOOK, first, at_once, OTHER, LOOK)
    orders = [["[]", "guest 1", "guest 2", f"{guests}{listed}"] for guests in ORDERS]
    return judge(calls, *orders[0], *orders[1], guests, *together)


def test_calls_at_once_end_as_in_some_order() -> None:
    assert in_all_orders(("guest 1", "guest 2", "harbour, meadow")).ruling == "fine"
    assert in_all_orders(("guest 2", "guest 1", "meadow, harbour")).ruling == "fine"
    lost = in_all_orders(("guest 1", "guest 2", "meadow"))
    assert (lost.error, lost.tool) == ("concurrency", "add_guest")
    assert lost.message.endswith("compared with either order, the results lack 'harbour'")
    twice = in_all_orders(("guest 1", "guest 1", "harbour, meadow"))
    assert twice.error == "concurrency"
    assert twice.message.endswith("the results lack '2' and they have '1'")
    assert in_all_orders(("guest 1", "guest 1", "meadow"), guests="[0]").ruling == "fine"  # another start


def test_a_server_may_refuse_calls_at_once_and_be_random() -> None:
    first, at_once = replace(LOOK, sent="afresh"), replace(ONE, sent="together")
    calls = (first, ONE, OTHER, LOOK, first, OTHER, ONE, LOOK, first, at_once, OTHER, LOOK)
    busy = said("the database is locked", flagged=True)
    apart = ("[]", "added", "added", "harbour, meadow", "[]", "added", "added", "meadow, harbour")
    assert judge(calls, *apart, "[]", "added", busy, "harbour").ruling == "fine"
    broken = said("list index out of range", flagged=True)
    assert judge(calls, *apart, "[]", "added", broken, "harbour").error == "concurrency"
    random = ("[]", "id a1", "id b2", "2 guests", "[]", "id c3", "id d4", "2 guests")
    assert judge(calls, *random, "[]", "id e5", "id f6", "2 guests").ruling == "fine"
    timed = [f"added at 12:00:0{number} in {number} ms" for number in range(6)]
    texts = ("[]", *timed[:2], "2 guests", "[]", *timed[2:4], "2 guests", "[]", *timed[4:], "2 guests")
    assert judge(calls, *texts).ruling == "fine"
    for key in ("duration_ms", "elapsedMs", "took", "response time"):
        one, more = f'{{"{key}": 1, "added": true}}', f'{{"{key}": 2.5, "added": true}}'
        texts = ("[]", one, one, "2 guests", "[]", one, one, "2 guests", "[]", more, one, "2 guests")
        assert judge(calls, *texts).ruling == "fine"


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("items", "concurrency"),
        ("params", "concurrency"),
        ("rooms", "concurrency"),
        ("downtime", "concurrency"),
        ("runtime", "fine"),
        ("milliseconds", "fine"),
        ("totalMs", "fine"),
        ("responseTime", "fine"),
        ("queue_time", "fine"),
    ],
)
def test_times_are_told_from_numbers(key: str, error: str) -> None:
    judged = in_all_orders(("guest 1", "guest 2", f"harbour, meadow {key}: 2"), listed=f" {key}: 3")
    assert (judged.error or judged.ruling) == error


def test_replies_are_not_mixed_up() -> None:
    one, other = (Invocation("get_length", json.dumps({"word": word})) for word in ("a", "bb"))
    calls = (one, other, one, other, replace(one, sent="together"), other)
    assert judge(calls, "1", "2", "1", "2", "1", "2").ruling == "fine"
    assert judge(calls, "1", "2", "1", "2", "2", "2").error == "concurrency"
    assert judge(calls, "1", "2", "1", "3", "2", "2").ruling == "fine"  # it differs anyway


def test_only_servers_get_several_requests_and_few_of_them() -> None:
    accepted = {each.name: [(LOOK,)] for each in TOOLS[1:2]} | {
        "add_guest": [(ONE,)],
        "get_length": [
            (Invocation("get_length", '{"word": "a"}'),),
            (Invocation("get_length", '{"word": "b"}'),),
        ],
    }
    kit = Toolkit({each.name: each for each in TOOLS}, accepted, hung={"get_length": (ONE,)})
    made = list(protocol.experiments(kit))
    assert {call.sent for calls in made for call in calls} == {*get_args(Sending)}
    assert sum(map(len, made)) < 40
    functions = {name: replace(each, kind="function") for name, each in kit.tools.items()}
    assert list(protocol.experiments(Toolkit(functions, accepted))) == []
