"""Shrinking: the result shows the same defect, and no single step makes it simpler, by exhaustion."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import pytest

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.fuzzing.triage.confirmation import MOST_SLOW_CALLS, Shrunk, shrink
from misstep.fuzzing.triage.steps import lower_together, simpler_together, values_given
from misstep.schemas.schema import fits
from tests.fuzzing.triage.bench import Bench, Planted, invoke, schema

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def long_name(state: Any, name: str, note: str = "") -> str:
    return name if len(name) < 256 else str([][0])


def has_bracket(state: Any, text: str) -> str:
    return str([][0]) if "[" in text and "]" in text[text.index("[") :] else "fine"


def large(state: Any, n: int) -> str:
    return str([][0]) if n >= 137 else "fine"


def negative(state: Any, n: int) -> str:
    return str([][0]) if n <= -42 else "fine"


def nested(state: Any, items: list[dict[str, Any]], mode: str = "x") -> str:
    return str([][0]) if any(item.get("kind") == "b" and item.get("n", 0) > 3 for item in items) else "fine"


def relation(state: Any, first: int, last: int) -> str:
    return str([][0]) if first > last else "fine"


def control(state: Any, text: str) -> str:
    return str([][0]) if any(not each.isprintable() for each in text) else "fine"


def any_text(state: Any, text: str) -> str:
    return str([][0]) if len(text) > 2 else "fine"


def two_ways(state: Any, text: str) -> str:
    if text.startswith("x"):
        return str({}["k"])
    return str([][0]) if len(text) > 3 else "fine"


def either(state: Any, value: Any) -> str:
    return str([][0]) if not isinstance(value, bool) else "fine"


def span(state: Any, text: str) -> str:
    first, _, last = text.partition("-")
    is_range = first.isdecimal() and last.isdecimal()
    return str([][0]) if is_range and int(last) - int(first) > 1000 else "fine"


ITEM = schema(kind={"enum": ["a", "b"]}, n=INTEGER)
CASES: list[tuple[Planted, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (has_bracket, schema(["text"], text=STRING), {"text": "héllo [wörld] and [more] of it"}, {"text": "[]"}),
    (large, schema(["n"], n=INTEGER), {"n": 90_210}, {"n": 137}),
    (negative, schema(["n"], n=INTEGER), {"n": -90_210}, {"n": -42}),
    (
        nested,
        schema(["items"], items={"type": "array", "items": ITEM}, mode=STRING),
        {"items": [{"kind": "a"}, {"kind": "b", "n": 77}, {"n": 1}], "mode": "abc"},
        {"items": [{"kind": "b", "n": 4}]},
    ),
    (
        relation,
        schema(["first", "last"], first=INTEGER, last=INTEGER),
        {"first": 17, "last": 3},
        {"first": 1, "last": 0},
    ),
    (span, schema(["text"], text=STRING), {"text": "21-47368882"}, {"text": "0-1001"}),
    (any_text, schema(["text"], text=STRING), {"text": "\x01\u00e9Z!"}, {"text": "aaa"}),
    (two_ways, schema(["text"], text=STRING), {"text": "hello world"}, {"text": "aaaa"}),
    (control, schema(["text"], text=STRING), {"text": "ab\x00cd\x01"}, {"text": "\x00"}),
    (either, schema(["value"], value={"type": ["boolean", "string"]}), {"value": "abc"}, {"value": ""}),
]


def run(
    function: Planted, parameters: dict[str, Any], arguments: dict[str, Any], most: int = 2_000
) -> tuple[Bench, Shrunk]:
    bench = Bench((function, parameters))
    calls = [invoke(function.__name__, **arguments)]
    return bench, shrink(calls, bench.last_of(calls), bench, bench.judge, most)


@pytest.mark.parametrize(("function", "parameters", "arguments", "expected"), CASES)
def test_arguments_become_as_small_as_they_can(
    function: Planted, parameters: dict[str, Any], arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    bench, shrunk = run(function, parameters, arguments)
    (call,) = shrunk.calls
    assert json.loads(call.arguments) == expected
    assert shrunk.minimal
    assert smaller_still(bench, shrunk.calls) == []


def test_the_usual_number_of_calls_is_enough_for_a_long_text() -> None:
    parameters = schema(["name"], name=STRING, note=STRING)
    bench, shrunk = run(long_name, parameters, {"name": "x/é\x00" * 700, "note": "abc"}, most=200)
    assert json.loads(shrunk.calls[0].arguments) == {"name": "a" * 256}
    assert shrunk.minimal
    assert bench.calls - 1 == shrunk.spent <= 200


def test_the_same_again_gives_the_same() -> None:
    function, parameters, arguments, _ = CASES[3]
    assert run(function, parameters, arguments)[1] == run(function, parameters, arguments)[1]


def test_no_more_calls_than_allowed_and_what_is_left_still_shows_it() -> None:
    function, parameters, arguments, _ = CASES[3]
    for most in range(12):
        bench, shrunk = run(function, parameters, arguments, most)
        assert shrunk.spent <= most
        assert not shrunk.minimal
        assert bench.last_of(shrunk.calls).signature == shrunk.judged.signature


def test_hangs_are_shrunk_with_few_calls() -> None:
    bench = Bench((any_text, schema(["text"], text=STRING)))
    calls = [invoke("any_text", text="abcdefghijklmnopqrstuvwxyz")]

    def hangs(calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> Judged:
        return Judged("hang", "", "hang") if reactions[-1].raised else Judged("fine")

    assert shrink(calls, Judged("hang", "", "hang"), bench, hangs).spent <= MOST_SLOW_CALLS


def test_a_workbench_that_makes_no_more_calls_ends_it() -> None:
    class Tired(Bench):
        def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
            return iter(())

    bench = Tired((any_text, schema(["text"], text=STRING)))
    calls = (invoke("any_text", text="abc"),)
    shrunk = shrink(calls, Judged("crash", "", "x"), bench, bench.judge)
    assert (shrunk.calls, shrunk.minimal) == (calls, False)


def test_time_is_asked_for_also_where_nothing_is_worth_a_call() -> None:
    """Large arguments have thousands of candidates that are not simpler; making these alone takes minutes."""
    bench = Bench((large, schema(["n"], n=INTEGER)))
    calls = [invoke("large", n=0)]
    unlimited = shrink(calls, Judged("crash", "", "x"), bench, bench.judge)
    limited = shrink(calls, Judged("crash", "", "x"), bench, bench.judge, over=lambda: True)
    assert (unlimited.spent, unlimited.minimal) == (0, True)
    assert (limited.spent, limited.minimal) == (0, False)


def unit(state: Any, unit: str = "m", size: int = 1) -> str:
    return str([][0]) if size > 5 else "fine"


def shrunk_whatever_the_schema_says(parameters: dict[str, Any], **arguments: Any) -> Any:
    """The smallest arguments for which the tool raises something, be they forbidden or not."""

    def raises(calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> Judged:
        return Judged("crash", "", "x") if reactions[-1].raised else Judged("fine")

    bench = Bench((unit, parameters))
    shrunk = shrink([invoke("unit", **arguments)], Judged("crash", "", "x"), bench, raises)
    return json.loads(shrunk.calls[0].arguments)


def test_arguments_that_fit_are_worth_more_than_short_ones() -> None:
    parameters = schema(["unit", "size"], unit={"enum": ["metres", "feet"]}, size=INTEGER)
    assert shrunk_whatever_the_schema_says(parameters, unit="nonsense", size=12) == {
        "unit": "feet",
        "size": 6,
    }


def test_what_only_shows_with_wrong_arguments_stays_wrong() -> None:
    parameters = schema(["unit", "size"], unit=STRING, size={"type": "integer", "maximum": 3})
    assert fits(parameters, shrunk_whatever_the_schema_says(parameters, unit="abc", size=12)) is not None


def put(state: dict[str, Any], key: str) -> str:
    state[key] = 1
    return "put"


def get(state: dict[str, Any], key: str) -> int:
    return 1 // (1 - state.get(key, 0))


def look(state: dict[str, Any], n: int = 0) -> str:
    return "looked"


def test_sequences_lose_calls_first_and_then_arguments() -> None:
    tools = [
        (put, schema(["key"], key=STRING)),
        (get, schema(["key"], key=STRING)),
        (look, schema(n=INTEGER)),
    ]
    bench = Bench(*tools)
    noise = [invoke("look", n=number) for number in range(6)]
    calls = [*noise, invoke("put", key="b"), *noise, invoke("put", key="abc"), invoke("get", key="b")]
    shrunk = shrink(calls, bench.last_of(calls), bench, bench.judge)
    assert [call.tool for call in shrunk.calls] == ["put", "get"]
    assert shrunk.calls == (invoke("put", key=""), invoke("get", key=""))
    assert smaller_still(bench, shrunk.calls) == []


def push(state: dict[str, Any], n: int) -> str:
    state.setdefault("stack", []).append(n)
    return "pushed"


def total(state: dict[str, Any]) -> str:
    stack = state.get("stack", [])
    return str([][0]) if len(stack) >= 3 and sum(stack) > 5 else "fine"


def test_a_defect_that_needs_three_calls_keeps_three() -> None:
    bench = Bench((push, schema(["n"], n=INTEGER)), (total, schema()))
    calls = [*(invoke("push", n=number) for number in range(9)), invoke("total")]
    shrunk = shrink(calls, bench.last_of(calls), bench, bench.judge, 2_000)
    assert [call.tool for call in shrunk.calls] == ["push", "push", "push", "total"]
    assert sum(json.loads(call.arguments).get("n", 0) for call in shrunk.calls) == 6
    assert smaller_still(bench, shrunk.calls) == []


def test_a_long_history_is_cut_down_within_the_usual_number_of_calls() -> None:
    bench = Bench((put, schema(["key"], key=STRING)), (get, schema(["key"], key=STRING)), (look, schema()))
    noise = [invoke("look")] * 31
    calls = [*noise, invoke("put", key="long name"), *noise, invoke("get", key="long name")]
    shrunk = shrink(calls, bench.last_of(calls), bench, bench.judge)
    assert shrunk.calls == (invoke("put", key=""), invoke("get", key=""))
    assert shrunk.minimal


def pair(state: Any, first: str, rest: list[str]) -> str:
    return str([][0]) if first in rest and "!" in first else "fine"


def test_texts_that_have_to_be_equal_become_smaller_together() -> None:
    bench = Bench((pair, schema(["first", "rest"], first=STRING, rest={"type": "array", "items": STRING})))
    calls = [invoke("pair", first="hello there! you", rest=["x", "hello there! you"])]
    shrunk = shrink(calls, bench.last_of(calls), bench, bench.judge)
    assert shrunk.calls == (invoke("pair", first="!", rest=["!"]),)


def test_what_stands_for_a_result_becomes_simpler_as_a_whole() -> None:
    marker = "${result.task_id@create_task#2}"
    calls = [invoke("put", key=marker), invoke("get", key=marker)]
    tried = [{*values_given(each)} for each in simpler_together(calls)]
    assert tried == [{""}, {"a"}, {"0"}]
    assert list(lower_together(calls)) == []


def make(state: dict[str, Any]) -> str:
    state[f"T{len(state) + 1}"] = 0
    return f"T{len(state)}"


def take(state: dict[str, Any], key: str) -> str:
    return "nothing" if key not in state else str(state.update({key: 1}))


def test_things_that_are_numbered_become_the_first_of_them() -> None:
    text = schema(["key"], key=STRING)
    bench = Bench((make, schema()), (take, text), (get, text))
    calls = [*[invoke("make")] * 12, invoke("take", key="T12"), invoke("get", key="T12")]
    shrunk = shrink(calls, bench.last_of(calls), bench, bench.judge)
    assert shrunk.calls == (invoke("make"), invoke("take", key="T1"), invoke("get", key="T1"))


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def open_box(state: dict[str, Any], label: str) -> str:
    """Gives an id that depends on how many there are: nobody can guess the next one."""
    state["made"] = state.get("made", 0) + 1
    box = digest(f"box {state['made']} {label}")
    state.setdefault("boxes", {})[box] = 0
    return json.dumps({"box": box, "label": label})


def fill(state: dict[str, Any], box: str, n: int = 1) -> str:
    state["boxes"][box] += n
    return f"filled {box}"


def weigh(state: dict[str, Any], box: str) -> str:
    if box not in state.get("boxes", {}):
        raise KeyError(box)
    return str([][0]) if state["boxes"][box] > 2 else "light"


BOXES = (
    (open_box, schema(["label"], label=STRING)),
    (fill, schema(["box"], box=STRING, n=INTEGER)),
    (weigh, schema(["box"], box=STRING)),
)


def eleven_calls() -> list[Invocation]:
    """Five boxes are made, one of them is filled and weighed."""
    bench = Bench(*BOXES)
    labels = [f"label {number}" for number in range(5)]
    boxes = [
        json.loads(each.text)["box"]
        for each in bench.run([Probe(invoke("open_box", label=each)) for each in labels])
    ]
    calls = [invoke("open_box", label=label) for label in labels]
    calls += [invoke("fill", box=box, n=1) for box in boxes[:2]]
    calls += [invoke("fill", box=boxes[3], n=9), invoke("weigh", box=boxes[0]), invoke("weigh", box=boxes[1])]
    return [*calls, invoke("weigh", box=boxes[3])]


@pytest.mark.parametrize("quick", [True, False])
def test_ids_that_calls_return_are_bound_anew_when_calls_are_left_out(quick: bool) -> None:
    bench, calls = Bench(*BOXES), eleven_calls()
    bench.starts_quickly = quick
    like = bench.last_of(calls)
    assert (like.error, len(calls)) == ("IndexError", 11)
    bench.reset()
    shrunk = shrink(calls, like, bench, bench.judge)
    box = digest("box 1 ")
    least = (invoke("open_box", label=""), invoke("fill", box=box, n=3), invoke("weigh", box=box))
    assert shrunk.calls == least
    assert bench.last_of(shrunk.calls).signature == like.signature


def test_what_is_printable_is_preferred_to_what_is_not() -> None:
    def unexpected(state: Any, text: str) -> str:
        return "fine" if text.isalnum() or not text else str([][0])

    bench = Bench((unexpected, schema(["text"], text=STRING)))
    calls = [invoke("unexpected", text="\0")]
    (call,) = shrink(calls, bench.last_of(calls), bench, bench.judge).calls
    assert json.loads(call.arguments)["text"].isprintable()


def smaller_still(bench: Bench, calls: Sequence[Invocation]) -> list[Sequence[Invocation]]:
    """Every single cut of the calls that shows the same defect, found without the shrinker's own steps.

    A cut takes away a call, a member, an item or a character, makes a character an `a`, takes a number to
    nought or one closer to it, or true to false. One that no longer fits the schema is none.
    """
    wanted = bench.last_of(calls)
    schemas = {described.name: described.tool.parameters for described in bench.tools}
    found = list[Sequence[Invocation]]()
    for place, call in enumerate(calls):
        others = [[*calls[:place], *calls[place + 1 :]]] if place < len(calls) - 1 else []
        arguments = json.loads(call.arguments)
        fitted = fits(schemas[call.tool], arguments) is None
        smaller = [cut for cut in cuts(arguments) if not fitted or fits(schemas[call.tool], cut) is None]
        for cut in smaller:
            others += [[*calls[:place], Invocation(call.tool, json.dumps(cut)), *calls[place + 1 :]]]
        found.extend(other for other in others if bench.last_of(other).signature == wanted.signature)
    return found


def cuts(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield from [False] if value else []
    elif isinstance(value, int):
        yield from {0, value - 1 if value > 0 else value + 1} - {value} if value else ()
    elif isinstance(value, str):
        for place in range(len(value)):
            yield value[:place] + value[place + 1 :]
            if value[place] != "a":
                yield value[:place] + "a" + value[place + 1 :]
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield value[:place] + value[place + 1 :]
            yield from ([*value[:place], cut, *value[place + 1 :]] for cut in cuts(item))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield {other: value[other] for other in value if other != name}
            yield from ({**value, name: cut} for cut in cuts(member))
