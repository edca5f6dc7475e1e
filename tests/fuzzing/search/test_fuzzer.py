"""Does the fuzzer find what was planted, and in how few calls?"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.schemas.schema import fits
from tests.fuzzing.search import kits, planted
from tests.fuzzing.search.bench import Bench, Simple, described

SEEDS = (1, 2, 3)
CHOICES = {"both": {"kind": {"enum": ["flat", "deep"]}}}
TEXTS = {"empty": {"items": {"type": "array", "items": {"type": "string"}}}}


def tool(function: Callable[..., Any]) -> Described:
    return described(function, **{**CHOICES, **TEXTS}.get(function.__name__, {}))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (planted.long_name, 15),
        (planted.nul, 10),
        (planted.surrogate, 10),
        (planted.empty, 5),
        (planted.off_by_one, 10),
        (planted.relation, 10),
        (planted.same, 10),
        (planted.staircase, 20),
        (planted.both, 40),
        pytest.param(planted.nested, 2000, marks=pytest.mark.full),
    ],
)
def test_bugs_behind_gates_are_found(function: Callable[..., Any], calls: int, seed: int) -> None:
    bench = Bench(function)
    bench.fuzz(Fuzzer([tool(function)], seed, Simple), calls, until="BUG")
    assert bench.found, f"not in {calls} calls"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (planted.long_name, 20),
        (planted.nul, 10),
        (planted.surrogate, 10),
        (planted.relation, 10),
        (planted.same, 80),
    ],
)
def test_bugs_of_black_boxes_are_found(function: Callable[..., Any], calls: int, seed: int) -> None:
    bench = Bench(function, opaque=True)
    bench.fuzz(Fuzzer([tool(function)], seed, Simple), calls, until="BUG")
    assert bench.found, f"not in {calls} calls"


@pytest.mark.full(after=6)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize(
    ("kit", "bugs", "calls"), [(kits.notes, 2, 120), (kits.orders, 1, 400), (kits.counter, 1, 150)]
)
def test_bugs_that_take_several_calls_are_found(
    kit: Callable[[], tuple[Callable[..., Any], ...]], bugs: int, calls: int, opaque: bool, seed: int
) -> None:
    functions = kit()
    bench = Bench(*functions, opaque=opaque)
    bench.fuzz(Fuzzer([described(each) for each in functions], seed, Simple), calls)
    assert len(bench.found) == bugs


def test_values_come_from_pools_unless_told_otherwise() -> None:
    bench, fuzzer = Bench(planted.off_by_one), Fuzzer([tool(planted.off_by_one)], 1)
    origins = set[str]()
    while len(bench.calls) < 150:
        for attempt in fuzzer.ask(16):
            origins.add(attempt.origin)
            bench.carry_out(fuzzer, attempt)
    assert bench.found
    assert origins & {"schema", "semantic", "harvested"}


def asked(seed: int, calls: int) -> list[CallSequence]:
    bench, fuzzer = Bench(planted.both), Fuzzer([tool(planted.both)], seed, Simple)
    attempts = list[CallSequence]()
    while len(bench.calls) < calls:
        for attempt in fuzzer.ask(16):
            attempts.append(attempt)
            bench.carry_out(fuzzer, attempt)
    return attempts


def test_the_same_seed_and_reactions_give_the_same_attempts() -> None:
    assert asked(5, 200) == asked(5, 200)
    assert asked(5, 200) != asked(6, 200)


def test_attempts_say_whether_they_fit_and_few_do_not() -> None:
    schema = tool(planted.both).tool.parameters
    attempts = asked(3, 400)
    for attempt in attempts:
        misfits = [fits(schema, json.loads(call.arguments)) for call in attempt.calls]
        assert attempt.fits == tuple(misfit is None for misfit in misfits)
        assert bool(attempt.broken) == (not all(attempt.fits))
    assert 0 < sum(not all(attempt.fits) for attempt in attempts) <= 0.15 * len(attempts)


def test_nothing_is_tried_twice_without_a_reason() -> None:
    plain = [each.calls for each in asked(4, 400) if not each.mark and each.origin != "again"]
    assert len(plain) == len(set(plain))


def test_arguments_are_plain_json() -> None:
    for attempt in asked(2, 300):
        for call in attempt.calls:
            assert call.arguments.isascii()
            assert isinstance(json.loads(call.arguments, parse_constant=pytest.fail), dict)


def test_first_come_the_authors_examples() -> None:
    function = described(planted.same, examples=['{"source": "a", "target": "b"}', "no json", "[1]"])
    fuzzer = Fuzzer([function], 1, Simple)
    (attempt,) = fuzzer.ask(100)
    assert (attempt.origin, attempt.calls[0].arguments) == ("example", '{"source": "a", "target": "b"}')


def test_no_more_is_asked_than_can_be_learnt_from() -> None:
    fuzzer = Fuzzer([tool(planted.same)], 1, Simple)
    (attempt,) = fuzzer.ask(100)
    assert fuzzer.ask(100) == []
    assert not fuzzer.exhausted
    fuzzer.tell(attempt, [Reaction("returned")], [Judged("fine")])
    assert fuzzer.ask(100)


def describe(name: str, properties: dict[str, Any]) -> Described:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return Described(tool=Tool(name=name, description="", parameters=parameters), kind="mcp")


@pytest.mark.parametrize(
    ("properties", "most"),
    [({}, 12), ({"on": {"type": "boolean"}}, 60), ({"a": {"enum": [1, 2, 3]}, "b": {"const": "x"}}, 80)],
)
def test_a_tool_with_few_inputs_is_done_with_soon(properties: dict[str, Any], most: int) -> None:
    fuzzer = Fuzzer([describe("tiny", properties)], 1)
    calls = list[str]()
    while not fuzzer.exhausted and len(calls) <= most:
        for attempt in fuzzer.ask(10):
            calls += [call.arguments for call in attempt.calls]
            count = len(attempt.calls)
            fuzzer.tell(attempt, [Reaction("returned", "ok", 2)] * count, [Judged("fine")] * count)
    assert fuzzer.exhausted
    assert len(calls) <= most
    assert fuzzer.ask(10) == []


def test_black_boxes_are_not_marked() -> None:
    fuzzer = Fuzzer([describe("far", {"a": {"type": "string"}})], 1, Simple)
    for _ in range(40):
        for attempt in fuzzer.ask(10):
            assert not attempt.mark
            count = len(attempt.calls)
            fuzzer.tell(attempt, [Reaction("returned", "ok", 2)] * count, [Judged("fine")] * count)


def test_a_server_is_asked_nothing_that_cannot_be_sent() -> None:
    fuzzer, texts = Fuzzer([describe("far", {"text": {"type": "string"}})], 1), list[str]()
    while len(texts) < 300:
        for attempt in fuzzer.ask(10):
            texts += [call.arguments for call in attempt.calls]
            count = len(attempt.calls)
            fuzzer.tell(attempt, [Reaction("returned", "ok", 2)] * count, [Judged("fine")] * count)
    for text in texts:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    assert any("\\ud83d" in text for text in texts)  # whole pairs are sent


def test_what_is_kept_is_small_and_goes_on() -> None:
    bench, fuzzer = Bench(planted.staircase), Fuzzer([tool(planted.staircase)], 1, Simple)
    bench.fuzz(fuzzer, 400)
    kept = fuzzer.corpus
    assert 3 <= len(kept) <= 20
    again, later = (
        Fuzzer([tool(planted.staircase)], 2, Simple, corpus=[*kept, "nonsense", "[]"]),
        Bench(planted.staircase),
    )
    later.fuzz(again, len(kept) + 5)
    first = {call.arguments for call in later.calls[: len(kept) + 5]}
    assert {json.dumps(json.loads(entry)[0]["arguments"]) for entry in kept} <= first


def test_calls_that_hang_are_soon_left_alone() -> None:
    def slow(count: int, word: str) -> str:
        return "HANG" if count > 2000 else word

    hung = 0
    bench, fuzzer = Bench(slow), Fuzzer([described(slow)], 1, Simple)
    for _ in range(300):
        for attempt in fuzzer.ask(8):
            reactions = [bench.call(call, False) for call in attempt.calls]
            reactions = [Reaction("hung") if each.text == "HANG" else each for each in reactions]
            hung += sum(each.ended == "hung" for each in reactions)
            judged = [Judged("hang" if each.ended == "hung" else "fine") for each in reactions]
            fuzzer.tell(attempt, reactions, judged)
    assert 0 < hung < 0.02 * len(bench.calls)


def test_what_is_just_not_allowed_is_tried_where_there_are_few_inputs() -> None:
    properties = {"level": {"enum": ["low", "high"]}, "n": {"type": "integer", "minimum": 1, "maximum": 3}}
    given = given_by(Fuzzer([describe("tiny", properties)], 1), 200)
    assert len(given) < 200
    levels, numbers = ([each.get(name, "missing") for each in given] for name in properties)
    assert all(value in levels for value in ("", "LOW", None, 0, "missing"))
    assert all(value in numbers for value in (0, 4, None, "", "missing"))


def test_files_that_there_are_are_given_to_what_asks_for_files() -> None:
    text = {"type": "string"}
    save = describe("save", {"file_path": text, "text": text, "folders": {"type": "array", "items": text}})
    supply = Simple(save)
    fuzzer = Fuzzer([save], 1, lambda _: supply, files=["loop", "a/b"])
    places = [("file_path",), ("folders", 0)]
    assert supply.learnt == [(place, file) for place in places for file in ("loop", "a/b")]
    given = given_by(fuzzer, 60)
    assert "loop" in [each["file_path"] for each in given]
    assert "loop" not in [each["text"] for each in given]


def given_by(fuzzer: Fuzzer, calls: int) -> list[dict[str, Any]]:
    """The arguments of so many calls, none of which leads to anything."""
    given = list[dict[str, Any]]()
    while not fuzzer.exhausted and len(given) < calls:
        for attempt in fuzzer.ask(10):
            given += [json.loads(call.arguments) for call in attempt.calls]
            count = len(attempt.calls)
            fuzzer.tell(attempt, [Reaction("returned", "ok", 2)] * count, [Judged("fine")] * count)
    return given
