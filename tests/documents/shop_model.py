"""A model for the shop of the documentation: it knows what the tools say of themselves, and nothing else."""

import json
from collections.abc import Sequence

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.bills import EXACTLY, told_calls
from tests.fuzzing.agent_tests.scripted_roles import Answer, fenced_in, plays
from tests.scripted import Call, Script, calling

BANANAS = "Have you got an offer for bananas?"
NOBODY = "The bill is 40 and nobody stayed to pay. How much is it for each?"


def natural(prompt: str) -> object:
    if "find_offer" in fenced_in(prompt)[1]:
        return {"arguments": [{"query": "fruit: banana"}, {"query": "apple"}]}
    return {"arguments": [{"total": 40, "people": -2}]}


def requests(prompt: str) -> object:
    return {"requests": [BANANAS if "find_offer" in fenced_in(prompt)[1] else NOBODY]}


def plan(request: str, tools: list[str]) -> Sequence[Call]:
    if request.startswith(EXACTLY):
        return told_calls(request) if is_allowed(told_calls(request)[-1]) else []
    if request == BANANAS:
        return [calling("find_offer", query="fruit: banana")]
    return [calling("split_bill", total=40, people=1)]


def is_allowed(call: Call) -> bool:
    given = json.loads(call.arguments)
    if call.name == "find_offer":
        return str(given["query"]).removeprefix("fruit: ").strip().isalpha() and "fruit: " in given["query"]
    return int(given["people"]) >= 0


def answer(prompt: str) -> str:
    return (
        "The documentation does not allow such arguments."
        if EXACTLY in prompt
        else prompt.rpartition("\n")[2]
    )


def shopper() -> Script:
    answers: dict[Stage, Answer] = {"natural": natural, "request": requests}
    return plays(answers, plan, answer_to=answer)
