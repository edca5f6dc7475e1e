"""Values that people use are tried with the agent before the smallest call that breaks the tool."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.features.tool_fuzz.reproduce.with_agent import Told, reproduce
from tests.fuzzing.agent_tests.bills import EXACTLY, told_calls
from tests.fuzzing.agent_tests.scripted_roles import Answer, always, fenced_in, plays, stage_of
from tests.scripted import Call, calling

ORDERS = '''
def track_order(order: str) -> str:
    """Where the order with this number is."""
    number = order.split("-", 1)[1]
    return f"order {number} is on its way"


def book_desk(desk: str, day: str) -> str:
    """Book a desk for a day."""
    if not desk.startswith("D"):
        raise ValueError("desk has to begin with D")
    if day == "2025-05-01":
        raise ValueError("the office is closed then")
    return f"{desk} is booked"
'''
NATURAL = "Where is order 4711?"
EMPTY = 'Where is order ""?'


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    (tmp_path / "bills.py").write_text(ORDERS)
    return tmp_path


def ask(prompt: str) -> object:
    """Requests that hold the value of the call that was shown."""
    (call,) = told_calls(f"{EXACTLY}\n{calls_in(prompt)}")
    order = json.loads(call.arguments)["order"]
    return {"requests": [NATURAL if order == "4711" else EMPTY]}


def calls_in(prompt: str) -> str:
    line = "-" * 20
    return f"{line}\n{fenced_in(prompt)[1]}\n{line}"


def act(request: str, tools: list[str]) -> Sequence[Call]:
    """An agent that makes any call it is told to, and asks back where a request names no order."""
    if request.startswith(EXACTLY):
        return told_calls(request)
    return [calling("track_order", order="4711")] if request == NATURAL else []


def tracked(place: Path, proposed: object, **given: object) -> Told:
    answers: dict[Stage, Answer] = {"natural": always(proposed), "request": ask}
    return reproduce(place, plays(answers, act), "track_order", **given)


def test_only_the_natural_value_leads_to_the_defect(orders: Path) -> None:
    told = tracked(orders, {"cause": "there is no dash", "arguments": [{"order": "4711"}]})
    (passage,) = told.journey.passages
    assert (passage.fate, passage.requests) == ("reached", (NATURAL,))
    (finding,) = told.tool.findings
    assert json.loads(finding.calls[-1].arguments) == {"order": ""}, "the smallest call is what is shown"
    assert finding.request == NATURAL
    assert EMPTY not in "".join(told.prompts)


def test_the_sanity_check_left_out_asks_for_natural_values_too(orders: Path) -> None:
    proposed = {"cause": "there is no dash", "arguments": [{"order": "4711"}]}
    (passage,) = tracked(orders, proposed, skip_sanity=True).journey.passages
    assert (passage.fate, passage.requests, passage.rehearsal) == ("reached", (NATURAL,), None)


def test_values_that_do_not_show_the_defect_are_not_asked_for(orders: Path) -> None:
    told = tracked(orders, {"cause": "no idea", "arguments": [{"order": "ORD-4711"}, {"order": 4711}]})
    (passage,) = told.journey.passages
    assert (passage.fate, passage.requests) == ("unmet", (EMPTY,))
    rehearsed = [prompt for prompt in told.prompts if prompt.startswith(EXACTLY)]
    assert not any("4711" in prompt for prompt in rehearsed)


def test_a_refusal_for_another_reason_is_not_the_one_that_is_looked_for(orders: Path) -> None:
    proposed = [{"desk": "D4", "day": "2025-05-01"}, {"desk": "14", "day": "2025-06-02"}]
    answers: dict[Stage, Answer] = {
        "natural": always({"cause": "the desk has no D", "arguments": proposed}),
        "request": always({"requests": ["Book desk 14 for 2 June."]}),
        "refusal": always({"reason": "nothing is said about a D", "surprising": True}),
        "foretold": always({"reason": "nobody could know", "foreseen": False}),
    }

    def book(request: str, tools: list[str]) -> Sequence[Call]:
        told = told_calls(request) if request.startswith(EXACTLY) else ()
        return told or [calling("book_desk", desk="14", day="2025-06-02")]

    told = reproduce(orders, plays(answers, book), "book_desk")
    (passage,) = told.journey.passages
    assert passage.fate == "reached"
    (asked,) = [prompt for prompt in told.prompts if stage_of(prompt) == "request"]
    assert '"desk": "14"' in fenced_in(asked)[1]
    assert not any("2025-05-01" in prompt for prompt in told.prompts if prompt.startswith(EXACTLY))
