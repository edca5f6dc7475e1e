"""Refusals are kept once each, with the smallest arguments, and only so many."""

import json
from typing import Any

from misstep.core.results.fuzzing import Refusal, ToolReport
from misstep.core.tool import Frame, Invocation, Raised, Reaction
from misstep.fuzzing.examination import Examination, ExaminationOptions
from misstep.fuzzing.triage.defect_index import MOST, Refusals
from tests.fuzzing.triage.bench import Bench, schema

HERE = (Frame("/somewhere/tools.py", 12, "act", own=True),)


def call(**arguments: Any) -> Invocation:
    return Invocation("act", json.dumps(arguments))


def raised(message: str, kind: str = "ValueError") -> Reaction:
    return Reaction("raised", raised=Raised(kind, message, frames=HERE, deliberate=True))


def test_the_smallest_arguments_stay() -> None:
    kept = Refusals()
    for text in ("abcdef", "ab", "abcd"):
        kept.add(call(text=text), raised(f"'{text}' must begin with x"))
    assert list(kept) == [
        Refusal("act", "ValueError", "'ab' must begin with x", "tools.py:12 in act", '{"text": "ab"}', 3)
    ]


def test_type_and_words_tell_one_from_another() -> None:
    kept = Refusals()
    kept.add(call(n=1), raised("must be even"))
    kept.add(call(n=1), raised("must be even", "TypeError"))
    kept.add(call(n=1), raised("must be more than 7"))
    kept.add(call(n=1), Reaction("returned", text="Error: n must be even"))
    assert [each.error for each in kept] == ["ValueError", "TypeError", "ValueError", ""]


def test_an_earlier_sitting_goes_on() -> None:
    first = Refusals()
    first.add(call(n=10), raised("10 must be even"))
    second = Refusals(first)
    second.add(call(n=3), raised("3 must be even"))
    assert [(each.arguments, each.seen) for each in second] == [('{"n": 3}', 2)]


def test_there_is_an_end_to_it() -> None:
    kept = Refusals()
    words = [f"{chr(97 + one)}{chr(97 + two)} must differ" for one in range(26) for two in range(4)]
    for word in words:
        kept.add(call(n=1), raised(word))
    assert len(list(kept)) == MOST


def test_an_examination_keeps_those_that_fit_the_schema() -> None:
    def act(state: Any, n: int) -> int:
        if not isinstance(n, int):
            raise TypeError("n must be a number")
        if n < 0:
            raise ValueError("n must not be negative")
        return n

    bench = Bench((act, schema(["n"], n={"type": "integer"})))
    examination = Examination(bench, bench.tools, ToolReport("act", 0), ExaminationOptions("tools.py"))
    while examination.calls < 100 and examination.go_on(100 - examination.calls, lambda: False):
        pass
    report = examination.report("calls")
    assert [(each.error, each.message) for each in report.refusals] == [
        ("ValueError", "n must not be negative")
    ]
    assert json.loads(report.refusals[0].arguments)["n"] < 0
    assert report.refusals[0].seen <= report.refused
