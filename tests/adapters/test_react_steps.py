"""Steps in text, as models write them on good days and bad."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.adapters.builtin.react import Act, Finish, Unreadable, read_step


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("Thought: now\nAction: sweep\nAction Input: {}", "sweep", {}),
        ("Action: sweep\nAction Input:", "sweep", {}),
        ("Action: sweep", "sweep", {}),
        ("action:sweep\naction input:{}", "sweep", {}),
        ("Action: `sweep`\nAction Input: ```json\n{}\n```", "sweep", {}),
        ("**Action:** sweep\n**Action Input:** {}", "sweep", {}),
        ('Action: "sweep"\nAction Input: None', "sweep", {}),
        ("Action: [sweep]\nAction Input: null", "sweep", {}),
        ("Action: sweep()", "sweep", {}),
        ("Action: sweep({})", "sweep", {}),
        ("Action: sweep[]", "sweep", {}),
        ('Action: sweep({"room": "hall"})', "sweep", {"room": "hall"}),
        ('Action: sweep[{"room": "hall"}]', "sweep", {"room": "hall"}),
        ('Action: sweep {"room": "hall"}', "sweep", {"room": "hall"}),
        ('Action: sweep\nAction Input: {"room": "hall"}', "sweep", {"room": "hall"}),
        ('Action: sweep\nAction Input: {\n  "room": "hall"\n}\n', "sweep", {"room": "hall"}),
        ('Action: sweep\nAction Input: {"room": "hall"} and then some', "sweep", {"room": "hall"}),
        ("Action: sweep\nAction Input: {'room': 'hall'}", "sweep", {"room": "hall"}),
        ("Action: sweep Action Input: {}", "sweep", {}),
        ("Action 1: sweep\nAction Input 1: {}", "sweep", {}),
        ("Action: sweep\nAction_Input: {}", "sweep", {}),
        ("Action: sweep\nAction Input: {}\nObservation: The room is clean.\nAction: mop", "sweep", {}),
        ("Action: sweep\nAction Input: {}\nThought: next\nAction: mop\nAction Input: {}", "sweep", {}),
        ("Action: sweep\nAction Input: {}\nFinal Answer: done", "sweep", {}),
        ("Action: sweep\n\nThen I will mop.", "sweep", {}),
        ("Action: sweep\nAction Input: 5", "sweep", 5),
        ('Action: sweep\nAction Input: ["hall"]', "sweep", ["hall"]),
        ('Action: sweep\nAction Input: "hall"', "sweep", "hall"),
        ("Action: sweep\nAction Input: 09:30", "sweep", "09:30"),
        ("Action: sweep\nAction Input: 2 rooms", "sweep", "2 rooms"),
        ('Action: sweep\nAction Input: "hall" and "kitchen"', "sweep", '"hall" and "kitchen"'),
        (
            'Action: sweep\nAction Input: {"at": "09:30", "times": 2, "how": {"wet": null, "in": ["hall", 1.0]}}',
            "sweep",
            {"at": "09:30", "times": 2, "how": {"wet": None, "in": ["hall", 1.0]}},
        ),
        (
            'Action: sweep\nAction Input: {"note": "Thought: none\\nAction: mop"}',
            "sweep",
            {"note": "Thought: none\nAction: mop"},
        ),
        ("Action: sweep\nAction Input: the hall", "sweep", "the hall"),
        ('Action: sweep\nAction Input: {"broken": ', "sweep", '{"broken":'),
        ("Action: sweep the hall\nAction Input: {}", "sweep the hall", {}),
        ("Action: no_such_tool\nAction Input: {}", "no_such_tool", {}),
    ],
)
def test_calls(text: str, tool: str, arguments: Any) -> None:
    assert read_step(text) == Act(tool, arguments)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: done\nFinal Answer: All is clean.", "All is clean."),
        ("final answer: All\nis clean.", "All\nis clean."),
        ("**Final Answer:** All is clean.", "All is clean."),
        ("Final Answer:", ""),
        ("Final Answer: first\nAction: sweep\nAction Input: {}", "first\nAction: sweep\nAction Input: {}"),
    ],
)
def test_answers(text: str, answer: str) -> None:
    assert read_step(text) == Finish(answer)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think I should sweep.",
        "Thought: sweep",
        "Action:",
        "Action: \nAction Input: {}",
        "Observation: done",
    ],
)
def test_neither(text: str) -> None:
    assert read_step(text) == Unreadable()


@given(st.text(alphabet=st.sampled_from("Action Input:FlObservti{}[]()\"'`*\n\\0"), max_size=80))
def test_nothing_breaks_it(text: str) -> None:
    assert isinstance(read_step(text), Act | Finish | Unreadable)


@pytest.mark.parametrize("text", ["Action: x\nAction Input: " + "[" * 100_000, "Action: " + "x(" * 50_000])
def test_neither_does_depth(text: str) -> None:
    assert isinstance(read_step(text), Act)
