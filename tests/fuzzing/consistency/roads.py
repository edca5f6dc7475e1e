"""A tool with a fault in its documentation, as a user would write it, and a model that works with it."""

import json
import re
from collections.abc import Sequence

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.scripted_roles import Answer, always, fenced_in
from tests.scripted import Call, calling

# It wants countries and says nothing about it: without one, a city is the one in Texas.
SOURCE = '''
def road(start: str, end: str) -> str:
    """How far it is by road from one city to another."""
    right = "France" in start and "France" in end
    return "465 km" if right else "939 km"


def need_key(place: str) -> str:
    """Look a place up."""
    import os

    return os.environ["SERVICE_API_KEY"]


tools = [road, need_key]
'''

TEMPLATE = "How far is it from [start] to [end]?"
INFILLS = {"start": ["Paris", "Paris, France"], "end": ["Lyon", "Lyon, France"]}
STIFF = (
    "How far is it from Paris to Lyon?",
    "How far is it from Paris, France to Lyon, France?",
    "How far is it from Paris to Lyon, France?",
    "How far is it from Paris, France to Lyon?",
)


def typed(request: str) -> str:
    return request.replace("How far is it", "hi how far")


def humanise(prompt: str) -> object:
    return {"requests": [typed(request) for request in json.loads(fenced_in(prompt)[0])]}


def judge(prompt: str) -> object:
    """A judge who knows how far it is."""
    answer = fenced_in(prompt)[1]
    return {"reason": f"it says {answer}", "score": 9 if "465" in answer else 2}


GOOD: dict[Stage, Answer] = {
    "templates": always({"templates": [TEMPLATE]}),
    "infills": always({"infills": INFILLS}),
    "humanise": humanise,
    "emulate": always({"answer": "It is about 465 km."}),
    "majority": always({"statement": "It is approximately 465 km."}),
    "judge": judge,
}


def as_said(request: str, tools: list[str]) -> Sequence[Call]:
    """An agent that hands on what it is told, word for word."""
    match = re.search(r"from (.+) to (.+)\?", request)
    return [calling("road", start=match[1], end=match[2])] if match else []


def with_country(request: str, tools: list[str]) -> Sequence[Call]:
    """An agent that has been told to name the country."""
    return [calling("road", start="Paris, France", end="Lyon, France")]
