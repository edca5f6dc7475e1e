"""Training examples as their readers take them: OpenAI's own types, a table, a reader that has but the line."""

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pyarrow.json
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from pydantic import TypeAdapter

from misstep.core.agent import Tool
from misstep.core.constraint import FAMILIES, Family
from misstep.core.outcome import Call, Transcript
from misstep.core.settings import Portion
from misstep.planning.judging.check import judge
from misstep.planning.judging.verification import verify
from misstep.planning.language.parts import LanguagePart, part_of
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.training import demonstrate_case
from tests.planning.judging.random_cases import OWN_SCHEMA
from tests.planning.rereading import Rereading

ALL = FAMILIES
EVERYTHING = LanguagePart()
MIXTURES: tuple[tuple[Family, ...], ...] = (
    *((family,) for family in ALL),
    ("order", "time"),
    ("order", "adjacent", "choice", "repeat"),
    ("order", "data", "dynamic"),
    ("time", "data", "choice", "budget"),
    ("order", "repeat", "data", "budget", "dynamic"),
    ALL,
)
MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionFunctionToolParam])


def lines(
    families: tuple[Family, ...],
    count: int,
    part: LanguagePart = EVERYTHING,
    distractors: int = 0,
    one_shot: bool = False,
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Cases, each with its example as a line of a file gives it back."""
    size = 8 if len(families) > 4 else 5
    suite = Suite(11, size - 1, size, families=families, part=part, distractors=distractors)
    for index in range(count):
        case = make_case(suite, index)
        example = demonstrate_case(case, "Do it.", ("train",), one_shot)
        if example is not None:
            yield case, json.loads(msgspec.json.encode(example))


def consumed(value: Any) -> Any:
    """What a validator has let through; it looks into lists only when somebody else does."""
    if isinstance(value, dict):
        return {name: consumed(inner) for name, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [consumed(inner) for inner in value]
    return value


@pytest.mark.parametrize("one_shot", [False, True], ids=["each", "one-shot"])
@pytest.mark.parametrize("families", MIXTURES, ids="-".join)
def test_openai_s_own_types_take_them_whole(families: tuple[Family, ...], one_shot: bool) -> None:
    for _, example in lines(families, 10, distractors=1, one_shot=one_shot):
        assert consumed(MESSAGES.validate_python(example["messages"], strict=True)) == example["messages"]
        assert consumed(TOOLS.validate_python(example["tools"], strict=True)) == example["tools"]


def test_what_they_would_not_take() -> None:
    """The types do look: a call without a name, or a role that nobody has, is refused."""
    (_, example), *_ = lines(("order",), 1)
    for damage in ({"role": "robot"}, {"content": 7}, {"tool_calls": [{"id": "x", "type": "function"}]}):
        damaged = [*example["messages"][:2], example["messages"][2] | damage]
        with pytest.raises(ValueError):  # noqa: PT011 - pydantic's own kind, in many words
            consumed(MESSAGES.validate_python(damaged, strict=True))


def test_a_file_of_all_families_is_a_table() -> None:
    """One type for each column, as whatever loads JSON lines as a table wants it."""
    examples = [example for families in MIXTURES for _, example in lines(families, 4)]
    file = io.BytesIO(b"\n".join(json.dumps(example).encode() for example in examples))
    table = pyarrow.json.read_json(file, pyarrow.json.ReadOptions(block_size=1 << 26))
    assert table.num_rows == len(examples)
    assert table.column_names == ["messages", "tools", "misstep"]
    assert table["misstep"].to_pylist() == [example["misstep"] for example in examples]
    calls = [
        call
        for example in table["messages"].to_pylist()
        for each in example
        for call in each["tool_calls"] or ()
    ]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)


@pytest.mark.full(after=4)
@pytest.mark.parametrize("distractors", [0, 2])
@pytest.mark.parametrize("families", MIXTURES, ids="-".join)
def test_whoever_reads_them_finds_nothing_wrong(families: tuple[Family, ...], distractors: int) -> None:
    read = 0
    for case, example in lines(families, 60, distractors=distractors):
        rereading = Rereading(example)
        assert not rereading.complaints, (case.id, rereading.complaints)
        assert all(len(turn) == 1 for turn in rereading.turns)
        for (call,), (after,) in pairwise(rereading.turns):
            assert not call[2].startswith("Error") or after[0] == "start_over"  # as the rules say
        read += 1
    assert read == 60


@pytest.mark.parametrize("portions", [("train",), ("topics", "words")], ids="-".join)
@pytest.mark.parametrize("families", MIXTURES, ids="-".join)
def test_nor_in_those_of_any_part(families: tuple[Family, ...], portions: tuple[Portion, ...]) -> None:
    for case, example in lines(families, 10, part_of(portions)):
        assert not Rereading(example).complaints, case.id


def test_nor_in_those_about_tools_of_somebody_s_own() -> None:
    tools = tuple(Tool(name, f"Does {name}.", OWN_SCHEMA) for name in ("weather", "book", "ping", "convert"))
    for index in range(30):
        example = demonstrate_case(make_case(Suite(1, 3, 4, tools=tools), index), "Do it.")
        rereading = Rereading(json.loads(msgspec.json.encode(example)))
        assert not rereading.complaints
        assert all(call[1] for turn in rereading.turns for call in turn)


@pytest.mark.parametrize("families", MIXTURES, ids="-".join)
def test_z3_finds_nothing_wrong_either(families: tuple[Family, ...]) -> None:
    for case, example in lines(families, 5):
        calls = [call for turn in Rereading(example).turns for call in turn]
        made = tuple(Call(tool, arguments, said, turn) for turn, (tool, arguments, said) in enumerate(calls))
        transcript = Transcript(case.id, made)
        verdict = judge(case, transcript, "forbid")
        assert verdict.verdict == "passed"
        verify(case, transcript, verdict)


def test_whoever_reads_them_would_find_something() -> None:
    """Calls in another order, one too few, one too many, another time or value: all are noticed."""
    noticed = Counter[str]()
    for families in (("order",), ("order", "time"), ("order", "data")):
        for _, example in lines(families, 10):
            head, calls, tail = example["messages"][:2], example["messages"][2:-1], example["messages"][-1:]
            pairs = [calls[place : place + 2] for place in range(0, len(calls), 2)]
            for name, damaged in {
                "backwards": pairs[::-1],
                "too few": pairs[:-1],
                "too many": [*pairs, pairs[0]],
            }.items():
                messages = [*head, *[message for pair in damaged for message in pair], *tail]
                noticed[name] += bool(Rereading({**example, "messages": messages}).complaints)
    assert noticed == {"backwards": 30, "too few": 30, "too many": 30}


@pytest.mark.parametrize("families", [("order",), ("order", "adjacent", "choice", "repeat")], ids="-".join)
def test_one_shot(families: tuple[Family, ...]) -> None:
    """One turn with all the calls, and everything right; only where no result has to be heard first."""
    shown = 0
    for case, example in lines(families, 40, one_shot=True):
        rereading = Rereading(example)
        assert not rereading.complaints
        (turn,) = rereading.turns
        stepwise = demonstrate_case(case, "Do it.")
        assert stepwise
        same = Rereading(json.loads(msgspec.json.encode(stepwise)))
        assert [[call] for call in turn] == same.turns
        assert not any(word in example["messages"][1]["content"] for word in (" reports", "out of service"))
        shown += 1
    assert shown == 40 if families == ("order",) else 5 < shown < 40


@pytest.mark.parametrize("families", [("time",), ("data",), ("budget",), ("dynamic",), ALL], ids="-".join)
def test_what_has_to_be_heard_is_not_shown_at_once(families: tuple[Family, ...]) -> None:
    assert not list(lines(families, 20, one_shot=True))


def test_the_origin_says_what_an_example_is_about() -> None:
    for case, example in lines(ALL, 3, part_of(("train",))):
        assert example["misstep"] == {
            "case": case.id,
            "families": list(ALL),
            "actions": len(case.actions),
            "part": ["train"],
            "kind": None,
        }
