"""Tools with defects that an agent may or may not run into, and a model that works with them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.scripted_roles import USUAL, Answer, Plan, always, fenced_in, stage_of
from tests.scripted import Call, Script, calling
from tests.scripted.script import final_answer, observations, question, thought_and_action

SOURCE = '''
def split_bill(total: int, people: int) -> str:
    """Split a bill between people."""
    return f"{total // people} each"


def count_down(start: int) -> str:
    """Count down from a number."""
    steps = [1, 2, 3]
    if start > 900:
        return str(steps[start])
    return str(10 // start) if start < 1 else "done"


def book_room(nights: int) -> str:
    """Book a room for some nights."""
    if nights > 14:
        raise ValueError("no more than 14 nights can be booked")
    return f"booked for {nights} nights"


def leak(word: str) -> str:
    """Say a word."""
    return {}["s3cr3t-key-0123"]


bills = [split_bill, book_room]
'''

EXACTLY = "Please make exactly this tool call"
REQUEST = "We are 0 people and the bill is 120, what does each pay?"
GOOD: dict[Stage, Answer] = {
    "request": always({"requests": [REQUEST]}),
    "natural": always({"arguments": [{"total": 120, "people": 0}]}),
}


def told_calls(request: str) -> list[Call]:
    """The calls that an agent is told to make, to the letter."""
    (text,) = fenced_in(request)
    return [Call(*re.match(r"(\w+)\((.*)\)", line, re.DOTALL).groups()) for line in text.split("\n")]  # type: ignore[union-attr]


def agent(
    natural: Mapping[str, Sequence[Call]], would: Callable[[dict[str, Any]], bool] = lambda _: True
) -> Plan:
    """An agent that makes the calls it is told, if it would, and for each natural request its own."""

    def plan(request: str, tools: list[str]) -> Sequence[Call]:
        if request.startswith(EXACTLY):
            calls = told_calls(request)
            return calls if all(would(json.loads(call.arguments)) for call in calls) else []
        return natural[request]

    return plan


SPLITS = agent({REQUEST: [calling("split_bill", total=120, people=0)]})


def plays_react(answers: Mapping[Stage, Answer], plan: Plan) -> Script:
    """The same model for an agent that works in text."""

    def decide(text: str, tools: list[str]) -> Sequence[str | Call]:
        stage = stage_of(text)
        return (
            plan(text, tools)
            if stage is None
            else [json.dumps(answers[stage](text) if stage in answers else USUAL[stage])]
        )

    return Script(
        plan=decide,
        find_request=lambda prompt: prompt if stage_of(prompt) else question(prompt),
        find_tools=lambda _: ["any"],
        count_steps=lambda prompt: 0 if stage_of(prompt) else observations(prompt),
        render_step=lambda text: thought_and_action(text) if text.isidentifier() else text,
        render_answer=final_answer,
    )
