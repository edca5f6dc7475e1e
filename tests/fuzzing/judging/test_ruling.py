"""What is ruled beside exceptions and error texts: limits, promises, ends that were none."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Frame, Invocation, Raised, Reaction, Source, ToolKind
from misstep.fuzzing.judging.demands import broken_demand, excuse_for
from misstep.fuzzing.judging.echoes import GivenValues
from misstep.fuzzing.judging.ruling import MUCH_MEMORY, MUCH_TEXT, judge, judge_calls_of
from misstep.fuzzing.triage.replay import is_same

SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1, "maximum": 10},
        "unit": {"enum": ["celsius", "fahrenheit", 3]},
        "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "size": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
        "place": {"$ref": "#/$defs/Place"},
        "tags": {"type": "array", "items": {"const": "x"}, "maxItems": 2},
    },
    "required": ["amount"],
    "additionalProperties": False,
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"maximum": 90}}, "required": ["lat"]}},
}


def rule(arguments: Any, reaction: Reaction, output: Any = None, kind: ToolKind = "langchain") -> Judged:
    described = Described(Tool("planted", "", SCHEMA), kind, output=output)
    return judge_calls_of([described])(Invocation("planted", json.dumps(arguments)), reaction)


def returned(text: str, **more: Any) -> Reaction:
    return Reaction("returned", text=text, size=more.pop("size", len(text)), **more)


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [
        ({"amount": 1}, ""),
        ({}, "required at amount"),
        ({"amount": 0}, "minimum at amount"),
        ({"amount": 11}, "maximum at amount"),
        ({"amount": "1"}, "type at amount"),
        ({"amount": 1, "unit": "kelvin"}, "enum at unit"),
        ({"amount": 1, "name": "a"}, "minLength at name"),
        ({"amount": 1, "name": "abcdef"}, "maxLength at name"),
        ({"amount": 1, "name": "ABC"}, "pattern at name"),
        ({"amount": 1, "size": 0}, "exclusiveMinimum at size"),
        ({"amount": 1, "size": "x"}, "anyOf at size"),
        ({"amount": 1, "place": {"lat": 91}}, "maximum at place.lat"),
        ({"amount": 1, "place": {}}, "required at place.lat"),
        ({"amount": 1, "tags": ["x", "y"]}, "const at tags[1]"),
        ({"amount": 1, "tags": ["x", "x", "x"]}, "maxItems at tags"),
        ({"amount": 1, "extra": 1}, "additionalProperties"),
        ([], "type"),
    ],
)
def test_the_demand_that_is_broken_is_named(arguments: Any, broken: str) -> None:
    assert broken_demand(SCHEMA, arguments) == broken


@pytest.mark.parametrize(
    ("arguments", "text", "ruling"),
    [
        ({"amount": 0}, "bought 0 pieces", "acceptance"),
        ({"amount": 11}, "bought 11 pieces", "acceptance"),
        ({}, "bought one", "acceptance"),
        ({"amount": 1, "unit": "kelvin"}, "20 degrees", "acceptance"),
        ({"amount": 1, "name": "a"}, "hello a", "acceptance"),
        ({"amount": 1, "name": "A B"}, "hello A B", "acceptance"),
        ({"amount": 1, "size": 0}, "size 0", "acceptance"),
        # No limit that was written down, another spelling, or not without a word.
        ({"amount": 1}, "bought 1 piece", "fine"),
        ({"amount": "1"}, "bought 1 piece", "fine"),
        ({"amount": 1, "extra": 1}, "bought 1 piece", "fine"),
        ({"amount": 1, "tags": ["x", "x", "x"]}, "three tags", "fine"),
        ({"amount": 1, "unit": "Celsius"}, "20 degrees", "fine"),
        ({"amount": 1, "unit": " celsius "}, "20 degrees", "fine"),
        ({"amount": 1, "unit": "3"}, "20 degrees", "fine"),
        ({"amount": 0}, "the amount must be at least 1", "fine"),
        ({"amount": 0}, "Please choose an amount between 1 and 10", "fine"),
        ({"amount": 11}, "bought 10 pieces (limited to 10)", "fine"),
        ({"amount": 0}, "", "fine"),
        ({"amount": 0}, "None", "fine"),
        ({"amount": 0}, '{"error": "amount too small"}', "refused"),
        ({"amount": 0}, "Error: amount too small", "refused"),
    ],
)
def test_silent_acceptance_needs_a_written_limit_and_silence(arguments: Any, text: str, ruling: str) -> None:
    assert rule(arguments, returned(text)).ruling == ruling


def test_accepting_is_the_same_however_the_breach_is_put_into_words() -> None:
    described = Described(Tool("planted", "", SCHEMA), "mcp")
    invocation = Invocation("planted", '{"amount": 0}')
    ways = ("minimum at amount", "amount must be at least 1", "")
    rulings = {judge(described, invocation, False, way, returned("ok")) for way in ways}
    assert [judged.signature for judged in rulings] == ["acceptance: minimum at amount"]


def test_accepting_is_one_defect_per_limit() -> None:
    low, lower, high = (rule({"amount": amount}, returned("ok")).signature for amount in (0, -7, 11))
    assert low == lower != high


OUTPUT = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}


@pytest.mark.parametrize(
    ("structured", "kind", "ruling"),
    [
        ('{"degrees": 20}', "function", "fine"),
        ('{"degrees": "20"}', "function", "schema"),
        ("{}", "mcp", "schema"),
        ("{", "mcp", "schema"),
        (None, "mcp", "schema"),
        (None, "function", "fine"),
    ],
)
def test_a_structured_result_is_held_to_its_schema(
    structured: str | None, kind: ToolKind, ruling: str
) -> None:
    reaction = returned("20 degrees", structured=structured)
    assert rule({"amount": 1}, reaction, OUTPUT, kind).ruling == ruling


def test_an_error_needs_no_structured_result() -> None:
    for reaction in (returned("no such city", flagged=True), returned("Error: no such city")):
        assert rule({"amount": 1}, reaction, OUTPUT, "mcp").ruling == "refused"


@pytest.mark.parametrize(
    ("reaction", "ruling", "error"),
    [
        (Reaction("hung", detail="no answer in 10 s"), "hang", "hang"),
        (Reaction("hung", detail="no answer in 10 s", computed=9.5), "blow-up", "CPU"),
        (Reaction("died", detail="killed by SIGSEGV"), "crash", "process died"),
        (Reaction("died", detail="exit status 3"), "crash", "process died"),
        (Reaction("died", detail="killed: out of memory"), "blow-up", "memory"),
        (Reaction("exhausted", detail="1,024 MB"), "blow-up", "memory"),
        (Reaction("garbled", detail="result has no content"), "protocol", "protocol"),
        (Reaction("raised"), "crash", "exception"),
        (returned("ok", memory=MUCH_MEMORY), "blow-up", "memory"),
        (returned("ok", size=MUCH_TEXT), "blow-up", "size"),
    ],
)
def test_calls_that_came_to_no_good_end(reaction: Reaction, ruling: str, error: str) -> None:
    judged = rule({"amount": 1}, reaction)
    assert (judged.ruling, judged.error) == (ruling, error)
    assert judged.why
    assert judged.signature


def test_much_input_explains_much_output() -> None:
    assert rule({"amount": 1, "name": "a" * 70_000}, returned("ok", size=MUCH_TEXT)).ruling != "blow-up"


def test_hangs_in_two_functions_are_two_and_any_line_of_a_loop_is_the_same() -> None:
    def hung(line: int, function: str) -> Judged:
        frames = (Frame("tools.py", line, function, True),)
        return rule({"amount": 1}, Reaction("hung", raised=Raised("Hung", "", frames=frames)))

    assert hung(24, "wait").signature == hung(25, "wait").signature
    assert hung(24, "wait").signature != hung(24, "poll").signature
    assert hung(24, "wait").where == "tools.py:24 in wait"


def test_a_call_that_computed_without_end_says_how_much_for_how_little_and_is_the_same_defect() -> None:
    waited, computed = (rule({"amount": 1}, Reaction("hung", computed=seconds)) for seconds in (0.0, 9.52))
    assert "9.5 seconds of processor time for 13 characters of arguments" in computed.why
    assert computed.signature == waited.signature
    assert is_same(computed, waited)


def test_whatever_a_parser_says_is_one_defect() -> None:
    said = (
        "Error executing tool calculate: invalid syntax (<unknown>, line 0)",
        "Error executing tool calculate: '(' was never closed (<unknown>, line 1)",
    )
    judged = [rule({"amount": 1}, returned(text, flagged=True), kind="mcp") for text in said]
    assert [(each.ruling, each.signature) for each in judged] == [("crash", "SyntaxError")] * 2


def test_a_structured_result_that_is_too_long_to_be_kept_is_not_missed() -> None:
    output = {"type": "object"}
    assert rule({"amount": 1}, returned("x", size=200_000), output, "mcp").ruling == "fine"
    assert rule({"amount": 1}, returned("x"), output, "mcp").ruling == "schema"


def test_half_a_character_is_found_among_many_texts() -> None:
    given = GivenValues({"names": ["\ud800", *["a"] * 300]})
    assert "Unicode" in excuse_for({}, "can't be sent to a server", given)


def test_a_hidden_exception_is_read_from_the_servers_log() -> None:
    log = 'Traceback (most recent call last):\n  File "/srv/t.py", line 3, in f\n    get()\n'
    for last, ruling in (
        ("IndexError: list index out of range", "crash"),
        ("ConnectionError: Connection refused", "environment"),
    ):
        reaction = returned("Error executing tool planted", flagged=True, detail=log + last)
        assert rule({"amount": 1}, reaction, kind="mcp").ruling == ruling


def test_an_error_of_the_protocol_is_read_like_a_text() -> None:
    for message, ruling in (
        ("MCP error -32602: Invalid arguments for tool planted: amount: expected string", "schema"),
        ("MCP error -32602: Invalid arguments for tool planted: amount or all must be given", "refused"),
        ('{"total": 2, "successful": 1, "errors": 1}', "refused"),
        ("MCP error -32603: list index out of range", "crash"),
        ("no such city", "refused"),
    ):
        reaction = Reaction("raised", raised=Raised("MCPError", message))
        assert rule({"amount": 1}, reaction, kind="mcp").ruling == ruling


@pytest.mark.parametrize(
    ("message", "about", "ruling"),
    [
        ("share: Input should be less than or equal to 1", "", "schema"),
        ("share must be <= 1", "A part of all", "schema"),
        ("share must be <= 1", "A part of all, from 0.0-1.0", "refused"),
        ("share must be <= 1", "A part of all, in 10 steps or 1.5", "schema"),
        ("share: should have at most 40 characters", "Up to 40 letters", "refused"),
    ],
)
def test_a_limit_that_only_the_server_knows_contradicts_the_schema(
    message: str, about: str, ruling: str
) -> None:
    schema = {"type": "object", "properties": {"share": {"type": "number", "description": about}}}
    described = Described(Tool("split", "Split a sum.", schema), "mcp")
    raised = Raised("ArgumentsRefused", message, validation=True)
    judged = judge_calls_of([described])(
        Invocation("split", '{"share": 2}'), Reaction("raised", raised=raised)
    )
    assert judged.ruling == ruling


@pytest.mark.parametrize(
    "text", ["{" * 100_000, "[" * 100_000, "Error: " + "\0" * 100_000, "Error: " + "'" * 90_000]
)
def test_hostile_text_is_judged_all_the_same(text: str) -> None:
    for flagged in (False, True):
        judged = rule({"amount": 1, "name": text}, returned(text, flagged=flagged))
        assert len(judged.why) < 1_000


@pytest.mark.parametrize(("arguments", "ruling"), [({"amount": 2}, "crash"), ({"amount": "2"}, "refused")])
def test_an_error_in_answer_to_what_the_schema_forbids_is_a_refusal(arguments: Any, ruling: str) -> None:
    raised = Raised("TypeError", "unsupported operand", frames=(Frame("tools.py", 3, "planted", True),))
    assert rule(arguments, Reaction("raised", raised=raised)).ruling == ruling
    assert rule(arguments, returned("Error: list index out of range")).ruling == ruling


def test_a_process_that_dies_is_a_crash_whatever_it_was_given() -> None:
    assert rule({"amount": "2"}, Reaction("died", detail="SIGSEGV")).ruling == "crash"


@pytest.mark.parametrize(
    ("printed", "where"),
    [
        (
            "logged:\n    at old (/a/b.js:1:1)\nTypeError: no\n    at node:fs:3:1\n    at Chart.draw (file:///a/b/lib/chart.js:1234:5)\n"
            "    at async run (/a/main.js:1:2)",
            "chart.js:1234 in Chart.draw",
        ),
        (
            'Traceback (most recent call last):\n  File "/a/main.py", line 3, in main\n    go()\n'
            '  File "/a/shop.py", line 7, in go\nKeyError: 1',
            "shop.py:7 in go",
        ),
        ("Segmentation fault", ""),
        # Logged when an earlier call was refused.
        (
            'Traceback (most recent call last):\n  File "/a/shop.py", line 7, in go\nKeyError: 1\n'
            + "[12:01] INFO Processing request\n" * 20,
            "",
        ),
    ],
)
def test_a_server_dies_where_its_stack_trace_says(printed: str, where: str) -> None:
    judged = rule({}, Reaction("died", detail=f"ServerGone: the server ended with exit code 1\n{printed}"))
    assert (judged.ruling, judged.error, judged.where) == ("crash", "process died", where)


def test_a_refusal_that_repeats_a_very_long_value_is_about_the_call() -> None:
    value = "62256" * 1_000
    raised = Raised("ValueError", f"{value!r} is no amount", frames=(Frame("tools.py", 3, "planted", True),))
    assert rule({"text": value}, Reaction("raised", raised=raised)).ruling == "refused"


def test_what_a_server_logs_before_it_dies_does_not_tell_one_death_from_another() -> None:
    ended = "ServerGone: the server 'shop' ended with exit code 1"
    logged = f"{ended}\n[12:01:07] INFO Listing tools"
    raised = f"{logged}\nTraceback (most recent call last):\nMemoryError"
    one, other, third = [
        rule({}, Reaction("died", detail=each)) for each in (ended, logged, f"{ended}\nOSError: no")
    ]
    assert one.signature == other.signature != third.signature
    assert rule({}, Reaction("died", detail=raised)).error == "memory"


@pytest.mark.parametrize(
    ("kind", "structured", "ruling"),
    [
        ("function", "3", "schema"),
        ("function", "null", "schema"),
        ("function", '"3"', "fine"),
        ("langchain", "3", "fine"),  # it makes a text of it
        ("langchain", "null", "schema"),  # but not of nothing
    ],
)
def test_a_text_that_was_promised(kind: ToolKind, structured: str, ruling: str) -> None:
    described = Described(Tool("planted", "", SCHEMA), kind, output={"type": "string"})
    call = Invocation("planted", '{"amount": 2}')
    reaction = Reaction("returned", structured.strip('"'), 1, structured=structured)
    assert judge(described, call, True, "", reaction).ruling == ruling


def test_a_plain_function_promises_no_check_of_its_hints() -> None:
    assert rule({"amount": 0}, returned("ok"), kind="function").ruling == "fine"


@pytest.mark.parametrize(
    ("code", "ruling"),
    [
        ("def planted(amount):\n    return LOG[amount]\n", "fine"),
        ("def planted(amount):\n    try: ...\n    except Exception as e: return repr(e)\n", "crash"),
        ("@safe\ndef planted(amount):\n    return LOG[amount]\n", "crash"),
    ],
)
def test_a_function_that_catches_nothing_tells_of_no_exception(code: str, ruling: str) -> None:
    described = Described(Tool("planted", "", SCHEMA), "function", source=Source("a.py", 1, code))
    said = returned("ZeroDivisionError: division by zero")
    assert judge(described, Invocation("planted", '{"amount": 1}'), True, "", said).ruling == ruling


def test_what_is_not_in_the_format_asked_for_may_be_refused() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date"}}}
    described = Described(Tool("planted", "", schema), "function")
    refusal = Reaction("raised", raised=Raised("ArgumentsRefused", "Invalid date", validation=True))
    rulings = [
        judge(described, Invocation("planted", json.dumps({"at": at})), True, "", refusal).ruling
        for at in ("", "2026-02-30", "2026-02-28")
    ]
    assert rulings == ["refused", "refused", "schema"]


@pytest.mark.parametrize(
    ("name", "ruling"), [("plan", "schema"), ("prompt:plan", "refused"), ("resource:a://{id}", "refused")]
)
def test_no_schema_says_what_a_prompt_takes(name: str, ruling: str) -> None:
    """Servers check texts that are JSON, and write into descriptions what they have to be."""
    schema = {"type": "object", "properties": {"size": {"type": "string"}}}
    said = "1 validation error for int: Input should be a valid integer [type=int_type, input_value='a']"
    reply = Reaction("returned", text=said, size=len(said), flagged=True)
    described = Described(Tool(name, "", schema), "mcp")
    assert judge(described, Invocation(name, '{"size": "a"}'), True, "", reply).ruling == ruling


def test_nobody_is_blamed_for_a_server_that_is_gone() -> None:
    gone = Reaction("died", detail="the server can't be reached: all connection attempts failed")
    assert rule({"amount": 2}, gone, kind="mcp").ruling == "environment"


def rule_on(name: str, description: str, arguments: dict[str, Any], reaction: Reaction) -> str:
    described = Described(Tool(name, description, {"type": "object"}), "mcp")
    return judge_calls_of([described])(Invocation(name, json.dumps(arguments)), reaction).ruling


@pytest.mark.parametrize(
    ("name", "description", "arguments", "ruling"),
    [
        ("act", "Do it.", {"seconds": 60}, "fine"),
        ("act", "Do it.", {"delayMs": 60_000}, "fine"),
        ("act", "Do it.", {"delay_ms": 60}, "hang"),
        ("act", "Do it.", {"timeout": "2h"}, "fine"),
        ("act", "Do it.", {"wait_minutes": 1}, "fine"),
        ("act", "Do it.", {"duration": 10.0, "steps": 5}, "fine"),
        ("act", "Do it.", {"seconds": 1}, "hang"),
        ("act", "Do it.", {"seconds": -1}, "hang"),
        ("act", "Do it.", {"amount": 60}, "hang"),
        ("act", "Do it.", {"sometimes": 60}, "hang"),
        ("act", "Do it.", {"seconds": True}, "hang"),
        ("sleep", "Do it.", {}, "fine"),
        ("poll_commands", "Do it.", {}, "fine"),
        ("waitForReply", "Do it.", {"id": 7}, "fine"),
        ("sleep", "Do it.", {"seconds": 0}, "hang"),
        ("act", "Waits until the build has ended.", {}, "fine"),
        ("act", "A long-running operation.", {}, "fine"),
        ("await_nothing", "Find a waiter.", {}, "hang"),
    ],
)
def test_a_tool_that_exists_to_take_long_does_not_hang(
    name: str, description: str, arguments: dict[str, Any], ruling: str
) -> None:
    waited = Reaction("hung", detail="no answer in 10 s", seconds=10.0)
    assert rule_on(name, description, arguments, waited) == ruling


@pytest.mark.parametrize(
    ("parameter", "ruling"),
    [
        ({"timeout": {"type": "integer"}}, "fine"),
        ({"timeoutMs": {"type": "integer", "default": 30_000}}, "fine"),
        ({"timeout": {"type": "integer", "default": 2}}, "hang"),
        ({"interval": {"type": "integer"}}, "hang"),
    ],
)
def test_a_time_to_wait_that_was_left_out_may_be_long(parameter: dict[str, Any], ruling: str) -> None:
    described = Described(Tool("act", "Do it.", {"type": "object", "properties": parameter}), "mcp")
    waited = Reaction("hung", seconds=10.0)
    assert judge_calls_of([described])(Invocation("act", "{}"), waited).ruling == ruling


@pytest.mark.parametrize("reaction", [Reaction("hung", seconds=10.0), Reaction("hung", computed=9.0)])
@pytest.mark.parametrize(
    ("name", "arguments", "is_excused"),
    [
        ("search_files", {"path": "/", "pattern": "x"}, True),
        ("find", {"dirs": ["src", "//"]}, True),
        ("directory_tree", {"rootFolder": "../../../../"}, True),
        ("search_files", {"path": "/usr", "pattern": "x"}, True),
        ("search_files", {"path": "src", "pattern": "/"}, False),
        ("search_files", {"path": "/srv/data"}, False),
        ("read_file", {"path": "/"}, False),
    ],
)
def test_searching_the_whole_machine_may_take_long(
    name: str, arguments: dict[str, Any], is_excused: bool, reaction: Reaction
) -> None:
    assert (rule_on(name, "Do it.", arguments, reaction) == "fine") is is_excused


def test_what_computes_without_end_has_no_such_excuse() -> None:
    assert rule_on("sleep", "", {"seconds": 60}, Reaction("hung", seconds=10.0, computed=9.5)) == "blow-up"


TOO_LONG = Raised(
    "OSError",
    "[Errno 36] File name too long: '/data/aaa'",
    ("OSError", "Exception"),
    (Frame("/x/tools.py", 3, "act", True), Frame("/lib/pathlib.py", 9, "open", False)),
)


@pytest.mark.parametrize(
    ("arguments", "reaction", "ruling"),
    [
        ({"path": "a" * 300}, Reaction("raised", raised=TOO_LONG), "refused"),
        ({"path": "é" * 150}, Reaction("raised", raised=TOO_LONG), "refused"),
        ({"path": "short"}, Reaction("raised", raised=TOO_LONG), "crash"),
        ({"path": "a" * 300}, returned("ENAMETOOLONG: name too long, open '/a'", flagged=True), "refused"),
        ({"path": "a" * 300}, returned("Error: File name too long (os error 36)", flagged=True), "refused"),
        ({"name": "a"}, returned("ENAMETOOLONG: name too long, open '/a'", flagged=True), "crash"),
        ({"path": "a" * 300}, returned("EINVAL: invalid argument, rename '/a'", flagged=True), "crash"),
        ({"path": "a" * 300}, Reaction("died", detail="File name too long"), "crash"),
        ({"to": "a"}, returned("EINVAL: invalid argument, rename '/d' -> '/d/a'", flagged=True), "refused"),
        ({"to": "a"}, returned("EINVAL: invalid argument, read", flagged=True), "crash"),
        ({"path": "a"}, returned("Error: [Errno 40] Too many levels of symbolic links: '/d/a'"), "refused"),
        (
            {"path": "a"},
            Reaction("raised", raised=replace(TOO_LONG, message="[Errno 22] No: '/d/a'")),
            "crash",
        ),
    ],
)
def test_a_path_that_the_system_refuses_is_no_crash(
    arguments: dict[str, Any], reaction: Reaction, ruling: str
) -> None:
    assert rule_on("act", "", arguments, reaction) == ruling
