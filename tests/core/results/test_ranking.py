"""Findings in order of how bad and how plausible they are, and by their root cause."""

import json
from typing import Any

import pytest
from msgspec import structs

from misstep.core.results.finding import DIED, Finding, causes_of, ranked
from misstep.core.results.fuzzing import FuzzReport, ToolReport
from misstep.core.results.trial import REFUSED
from misstep.core.tool import Frame, Invocation, oddity_of

SPEC = "tools.py:tools"


BIG = Invocation("open", '{"created": 1700000000}')
READ_AS_JSON = "[type=string_type, input_value=[0], input_type=list] For more"


TOO_LONG = "Garbled: a message of more than 67,108,864 bytes:"
MANY = Invocation("roll", '{"rolls": [{"dice": 443, "sides": 47}], "count": 963}')
COUNT = "Invalid count value: {}"


def finding(name: str, value: Any = "a", **changes: Any) -> Finding:
    calls = (Invocation("act", json.dumps({"text": value})),)
    plain = Finding(
        *(name, "act", "crash", "ValueError", f"t.py:{name} in f", "no", "", name, calls, calls, 1), spec=SPEC
    )
    return structs.replace(plain, **changes)


def after(call: Invocation, found: Finding) -> Finding:
    return structs.replace(found, calls=(call, *found.calls))


def order(*findings: Finding) -> list[str]:
    assert ranked(findings) == ranked(reversed(findings))
    return [each.id for each in ranked(findings)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (finding("1", "b"), finding("0", "\0")),
        (finding("1", "b" * 150), finding("0", "\ud800")),
        (finding("1", "b" * 250), finding("0", "\0")),
        (finding("1", "\x1b["), finding("0", "\0")),
        (finding("1", "b"), finding("0", "\x1b[")),
        (finding("1", "b" * 150), finding("0", "b" * 250)),
        (finding("1", "a longer text"), finding("0", 10**30)),
        (finding("1", "line\nline"), finding("0", "\u202e")),
        (finding("1", "bb"), finding("0", "b" * 30)),
        (finding("1", "bbbb"), finding("0", fits=False)),
        (finding("1", "celsius", documented=1), finding("0", "a")),
        (finding("1", "\0", error=DIED), finding("0")),
        (finding("1", kind="hang"), finding("0", "\0")),
        (finding("1", kind="hang"), finding("0")),  # nobody is answered meanwhile
        (finding("1", "\0", kind="hang"), finding("0", kind="contract", error="read-only")),
        (finding("1", "\0", kind="contract", error="read-only"), finding("0")),
        (finding("1", kind="schema"), finding("0")),  # a promise to everybody who calls
        (finding("1"), finding("0", "b" * 250, kind="schema")),
        (finding("1", kind="suspicious-refusal"), finding("0", "\0")),
        (finding("1", error=DIED), finding("0", kind="contract", error="read-only")),
        (finding("1", kind="contract", error="read back"), finding("0", error=DIED)),
        (finding("1", kind="security"), finding("0", kind="contract", error="read back")),
        (finding("1", kind="blow-up", error="CPU", spec="mcp:python s.py"), finding("0", error=DIED)),
        (finding("1", error=DIED), finding("0", kind="blow-up", error="CPU")),  # of a function
        (finding("1", error=DIED), finding("0", "b" * 2_000, kind="blow-up", error="CPU", spec="mcp:x")),
        (finding("1", kind="hang"), finding("0", kind="schema")),
        (finding("1", kind="schema"), finding("0", kind="acceptance")),
        (finding("1", "b" * 60, request="Where is it?"), finding("0", "b")),
    ],
)
def test_the_worse_and_more_plausible_one_comes_first(first: Finding, second: Finding) -> None:
    assert order(first, second) == ["1", "0"]


def test_arguments_that_cannot_be_read_are_odd() -> None:
    assert oddity_of([Invocation("act", "[" * 100_000)]) == 3
    assert oddity_of([Invocation("act", json.dumps({"x": [[[[[[[[[[1]]]]]]]]]]}))]) == 1
    assert oddity_of([]) == 0


def place(tool: str, where: str = "paths.py:48 in check", **changes: Any) -> Finding:
    return finding(f"{tool}{changes.get('error', '')}", tool=tool, where=where, **changes)


def test_twelve_tools_that_share_a_check_are_one_cause() -> None:
    shared = [place(f"tool{number}") for number in range(12)]
    own = place("tool3", "other.py:9 in act")
    causes = causes_of([*shared, own])
    assert sorted(len(cause.findings) for cause in causes) == [1, 12]
    assert len({cause.id for cause in causes}) == 2
    assert len(causes_of([place("one"), place("two", error="KeyError")])) == 2
    assert len(causes_of([place("one"), place("two", spec="tools.py:other")])) == 1
    assert len(causes_of([place("one"), place("two", spec="copy/tools.py:tools")])) == 2


def raised(name: str, error: str, line: int, text: str, *further: Frame) -> Finding:
    frames = (Frame("/x/requests.py", line, "call", True, text), *further)
    return finding(name, error=error, where=f"requests.py:{line} in call", frames=frames)


def test_copies_of_a_line_are_one_place() -> None:
    text = 'return self.client.{}(clean(data["url"]), data["body"])'
    copies = [raised(f"{line}", "KeyError", line, text.format(f"m{line}")) for line in (92, 129)]
    assert len(causes_of(copies)) == 1
    assert len(causes_of([copies[0], raised("0", "TypeError", 129, text.format("m"))])) == 2
    assert (
        len(causes_of([raised("0", "KeyError", 1, "x = a[i]"), raised("1", "KeyError", 2, "x = a[i]")])) == 2
    )


def test_what_a_library_raises_from_one_file_is_one_cause() -> None:
    prepare, adapter = (Frame(f"/lib/{name}.py", 9, name, False) for name in ("prepare", "adapter"))
    schema, url, other = (
        raised("0", "MissingSchema", 31, "get", prepare),
        raised("1", "InvalidURL", 70, "delete", prepare),
        raised("2", "InvalidSchema", 70, "delete", adapter),
    )
    assert len(causes_of([schema, url])) == 1
    assert len(causes_of([schema, other])) == 2
    for order in ([schema, url, other], [schema, other, url]):
        (cause,) = causes_of(order)
        assert [each.id for each in cause.findings] == ["0", "1", "2"]
    errors = [raised(name, name, 5, "open", prepare) for name in ("FileNotFoundError", "IsADirectoryError")]
    assert len(causes_of(errors)) == 1
    assert len(causes_of([raised("0", "ValueError", 5, "x", prepare), raised("1", "KeyError", 5, "x")])) == 2


def test_names_of_tools_and_parameters_in_a_refusal_do_not_split_a_cause() -> None:
    def refused(tool: str, parameter: str, kind: str = "string") -> Finding:
        said = f"refused: # validation error for {tool}Arguments {parameter} Input should be a valid {kind}"
        calls = (Invocation(tool, json.dumps({parameter: "[]"})),)
        return finding(tool, tool=tool, kind="schema", where="", signature=said, calls=calls)

    assert len(causes_of([refused("log", "since"), refused("show", "end_time")])) == 1
    lines = ["Expected boolean, received {} at nextThought", "Expected boolean, received {} at isLast"]
    calls = (Invocation("think", '{"nextThought": 1, "isLast": []}'),)
    said = [lines[0].format("number"), "; ".join(line.format("array") for line in lines)]
    thoughts = [
        finding(text, kind="schema", where="", signature=f"refused: {text}", calls=calls) for text in said
    ]
    assert len(causes_of(thoughts)) == 1
    assert len(causes_of([refused("log", "since"), refused("show", "since", "number")])) == 2


@pytest.mark.parametrize(
    ("one", "is_minor"),
    [
        (finding("1", "\0"), True),
        (finding("1", "b" * 250), True),
        (finding("1"), False),
        (finding("1", error="FileNotFoundError"), True),
        (finding("1", error="InvalidURL"), False),  # it may be the tool's own
        (finding("1", error="InvalidURL", frames=(Frame("lib.py", 1, "get", False),)), True),
        (finding("1", error="InvalidURL", where=""), False),
        (finding("1", "\0", error=DIED), False),
        (finding("1", "\0", kind="hang"), False),
        (finding("1", "\0", kind="contract", error="read-only"), False),
        (finding("1", "\0", request="Where is it?"), False),
        (finding("1", kind="suspicious-refusal"), False),
        (finding("1", kind="acceptance", signature="acceptance: enum at unit"), True),
        (finding("1", kind="acceptance", signature="acceptance: required at unit"), False),
        (finding("1", kind="contract", error="unlisted tool"), True),
        (finding("1", 2_000_000, kind="blow-up", error="memory", spec="mcp:x"), True),
        (finding("1", 2_000, kind="blow-up", error="memory", spec="mcp:x"), False),
        (after(BIG, finding("1", kind="blow-up", error="CPU", spec="mcp:x")), False),
        (after(BIG, finding("1", kind="contract", error="time-out", spec="mcp:x")), True),
        (finding("1", kind="contract", error="time-out", spec="mcp:x"), False),
        (finding("1", kind="protocol", message=TOO_LONG, calls=(MANY,)), True),
        (finding("1", 3, kind="protocol", message=TOO_LONG), False),
        (finding("1", error="TypeError", calls=(Invocation("act", '{"taskIndex": 0.5}'),)), True),
        (finding("1", error="TypeError", calls=(Invocation("act", '{"taskIndex": 2.0}'),)), False),
        (finding("1", error="TypeError", calls=(Invocation("act", '{"share": 0.5}'),)), False),
        (finding("1", where="", spec="mcp:x", error="RangeError", message=COUNT.format("-1")), False),
        (finding("1", -1, where="", spec="mcp:x", error="RangeError", message=COUNT.format("-1")), True),
        (finding("1", where="", spec="mcp_tools.text:parse"), False),
        (finding("1", where="", spec="mcp:x"), True),  # a ValueError that the caller gets as an error
        (finding("1", where="", spec="tools/mcp.json:x"), True),
        (finding("1", where="", spec="mcp:x", message="not enough values to unpack"), False),
        (finding("1", where="", spec="mcp:x", error="TypeError"), False),
        (finding("1", where="", spec="mcp:x", error="TypeError", message="URI malformed"), True),
        (finding("1", kind="schema", signature=f"{REFUSED}text", message=READ_AS_JSON), True),
        (finding("1", kind="schema", signature="output: result", message=READ_AS_JSON), False),
    ],
)
def test_what_hardly_anybody_sends_or_what_says_why_is_minor(one: Finding, is_minor: bool) -> None:
    assert one.is_minor is is_minor


def test_a_server_that_checks_nothing_is_one_cause() -> None:
    said = ("acceptance: required at relations[0].from", "acceptance: minimum at size")
    accepted = [finding(text, kind="acceptance", where="", signature=text, spec="mcp:x") for text in said]
    assert len(causes_of(accepted)) == 1
    assert len(causes_of([structs.replace(each, spec=SPEC) for each in accepted])) == 2


def test_what_a_validation_says_first_is_one_cause_whatever_else_it_says() -> None:
    def checked(said: str, **changes: Any) -> Finding:
        return finding(said, kind="schema", where="", spec="mcp:x", signature=said, message=said, **changes)

    item = "refused: {}1 validation error for {} text Input should be a valid string [type=string_type"
    prefixes = ("", "Failed to reload todos: Failed to load todo.txt: ")
    loaded = [checked(item.format(prefix, "TodoItem"), tool=prefix) for prefix in prefixes]
    assert len(causes_of(loaded)) == 1
    assert len(causes_of([*loaded, checked(item.format("", "Owner"))])) == 2

    result = "output: Invalid structured content: {}: Invalid input: expected number, received {}"
    first = [checked(result.format("growth", value)) for value in ("NaN, margin: expected text", "NaN")]
    assert len(causes_of(first)) == 1
    assert len(causes_of([*first, checked(result.format("growth", "number"))])) == 2
    assert len(causes_of([first[0], structs.replace(first[1], tool="other")])) == 2


def test_what_tools_of_a_server_read_in_another_format_is_one_cause() -> None:
    reading = {"error": "SyntaxError", "signature": "SyntaxError", "where": ""}
    names = ("read_json", "merge_json")
    found = [
        finding(name, "a.txt" + name, tool=name, message=f"not JSON: {name}", spec="mcp:x", **reading)
        for name in names
    ]
    assert len(causes_of(found)) == 1
    assert len(causes_of([found[0], structs.replace(found[1], spec="mcp:y")])) == 2
    assert len(causes_of([structs.replace(each, spec=SPEC) for each in found])) == 2


def unhandled(error: str, said: str, tool: str = "act", **given: Any) -> Finding:
    calls = (Invocation(tool, json.dumps(given)),)
    changes = {"where": "", "spec": "mcp:x", "signature": f"{error}: {said}", "message": said}
    return finding(f"{error}{said}", tool=tool, error=error, calls=calls, **changes)


def test_exceptions_about_a_parameter_that_a_server_does_not_check_are_one_cause() -> None:
    subscript = unhandled("TypeError", "'int' object is not subscriptable", run="", tasks=[0])
    key = unhandled("KeyError", "'key'", run="${result.run}", tasks=[{}])
    assert len(causes_of([subscript, key])) == 1
    for other in (
        unhandled("KeyError", "'key'", "other", run="", tasks=[{}]),
        unhandled("KeyError", "'key'", run="a", tasks=[{}]),  # it may be either
        unhandled("KeyError", "'key'", run="", tasks=["\0"]),
        unhandled("KeyError", "'key'", run="", steps=[0]),
        unhandled("NameError", "name 'ET' is not defined", run="", tasks=[0]),
        structs.replace(key, spec=SPEC),
    ):
        assert len(causes_of([subscript, other])) == 2


def test_what_wraps_a_message_does_not_split_a_cause() -> None:
    said = (
        "no such device here",
        "Error executing tool act: no such device here",
        "Error: no such device here",
    )
    assert len(causes_of([unhandled("OSError", each) for each in said])) == 1
    assert (
        len(causes_of([unhandled("OSError", "Error: nothing"), unhandled("OSError", "Error: at all")])) == 2
    )


def test_limits_that_a_server_checks_without_declaring_them_are_one_cause() -> None:
    messages = ("age must be <= 150", "2 errors: Input should be less than or equal to 32", "not a text")
    found = [
        finding(
            str(number), kind="schema", where="", spec="mcp:x", signature=f"{REFUSED}{text}", message=text
        )
        for number, text in enumerate(messages)
    ]
    assert [len(cause.findings) for cause in causes_of(found)] == [1, 2]
    assert len(causes_of([found[0], structs.replace(found[1], spec="mcp:y")])) == 2


def test_without_a_place_the_message_tells_causes_apart() -> None:
    def told(tool: str, signature: str, **changes: Any) -> Finding:
        return place(tool, "", signature=signature, error="OSError", **changes)

    same = [told(tool, f"OSError: {tool} failed: no such device, read '…'") for tool in ("load", "store")]
    assert len(causes_of(same)) == 1
    assert len(causes_of([same[0], told("store", "OSError: another message altogether")])) == 2
    assert len(causes_of([same[0], structs.replace(same[1], spec="other.py:tools")])) == 2
    assert len(causes_of([told("load", "OSError: '…'"), told("store", "OSError: '…'")])) == 2
    assert len(causes_of([told("load", "hang", kind="hang"), told("store", "hang", kind="hang")])) == 2


def test_a_report_lists_the_weightiest_first_whichever_tool_it_is_of() -> None:
    odd, plain = finding("0", "\0", tool="a"), finding("1", "b", tool="b")
    report = FuzzReport("r", (SPEC,), (ToolReport("a", 1, (odd,)), ToolReport("b", 1, (plain,))))
    assert report.findings == [plain, odd]
    assert [cause.findings for cause in report.causes] == [(plain,), (odd,)]
