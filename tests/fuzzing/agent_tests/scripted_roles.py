"""A model that plays every part in a test of tools: it tells by the prompt which one is wanted."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from misstep.core.settings import Settings
from misstep.core.spending import UNCOUNTED, Account
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Prompts, Stage
from misstep.runs.setup.agents import find_agent
from misstep.runs.setup.roles import RoleModels
from misstep.runs.setup.trying import Trier
from misstep.tool_host.host import ToolHost
from tests.scripted import Call, Fault, Script

# How the prompt of each stage begins. The agent gets "exactly" as its request.
MARKERS: dict[Stage, str] = {
    "natural": "You find realistic arguments that make a tool fail.",
    "request": "You write user messages that lead an AI assistant to given tool calls.",
    "refusal": "You decide whether a tool's refusal is surprising.",
    "foretold": "You decide whether a tool's refusal could be foreseen.",
    "templates": "You think of requests that need a given tool.",
    "infills": "You find different ways to say the same value.",
    "humanise": "You rewrite messages so that they sound like real users.",
    "same": "You check whether messages ask for the same thing.",
    "emulate": "You predict what a tool returns.",
    "majority": "You summarise what several answers agree on.",
    "judge": "You score the answer of an AI assistant.",
    "declined": "You decide why an AI assistant did not use a tool.",
    "correct": "You check whether an AI assistant gave the correct answer.",
    "answers-greybox": "You look for wrong answers of a tool that an AI assistant uses, given its documentation:",
    "answers-whitebox": "You look for wrong answers of a tool that an AI assistant uses, given its documentation and source",
    "crashes-greybox": "You look for crashes of a tool that an AI assistant uses, given its documentation:",
    "crashes-whitebox": "You look for crashes of a tool that an AI assistant uses, given its documentation and source",
    "groups": "You sort the tools of an AI assistant into groups by purpose.",
    "crosstalk": "You write messages that users send to an AI assistant.",
    "fix-findings": "You improve the documentation of a tool, given what went wrong with it.",
    "fix-description": "You improve the documentation of a tool, given only its current documentation.",
    "fix-source": "You improve the documentation of a tool, given its source code.",
    "fix-explore": "You find out how a tool works by calling it.",
    "fix-observed": "You improve the documentation of a tool, given calls of it and their results.",
}

# What the model says to a prompt: a text as it is, anything else as JSON.
Answer: TypeAlias = Callable[[str], object]
Plan: TypeAlias = Callable[[str, list[str]], Sequence[str | Call]]

T = TypeVar("T")

# What is said to stages that most tests are not about: no natural values, nothing wrong with a set.
USUAL: dict[Stage, object] = {
    "natural": {"cause": "It is not clear.", "arguments": [{}]},
    "same": {"reason": "All of them ask for the same.", "different": []},
}

REFUSAL = "I'm sorry, but I can't help with that."


def always(said: object) -> Answer:
    return lambda _: said


def in_turn(*said: object) -> Answer:
    """One answer for each time that a question is put, the last for ever."""
    return lambda prompt: said[min(tries_before(prompt), len(said) - 1)]


def tries_before(prompt: str) -> int:
    """How often the model has been told what was wrong with its answer."""
    return prompt.count("Send the whole JSON object again")


def stage_of(prompt: str) -> Stage | None:
    """The stage that a prompt belongs to; None if it is the agent's own."""
    return next((stage for stage, marker in MARKERS.items() if prompt.startswith(marker)), None)


def fenced_in(prompt: str) -> list[str]:
    """The texts from outside that a prompt holds, in their order."""
    return [text for _, text in re.findall(r"^(-{20,})\n(.*?)\n\1$", prompt, re.DOTALL | re.MULTILINE)]


def last_result(prompt: str) -> str:
    """What the agent was told last."""
    return prompt.rpartition("\n")[2]


def plays(
    answers: Mapping[Stage, Answer],
    plan: Plan = lambda request, tools: (),
    answer_to: Callable[[str], str] = last_result,
    faults: Sequence[Fault | None] = (),
) -> Script:
    """A script that answers each stage by its function, and as the agent makes the calls of the plan.

    A stage that has no answer, not even a usual one, must not be asked for: the server raises at the end of its block.
    """

    def decide(text: str, tools: list[str]) -> Sequence[str | Call]:
        stage = stage_of(text)
        if stage is None:
            return plan(text, tools)
        said = answers[stage](text) if stage in answers else USUAL[stage]
        return [said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)]

    return Script(
        plan=decide,
        faults=faults,
        answer_to=answer_to,
        find_request=lambda prompt: prompt,
        find_tools=lambda _: ["any"],
        count_steps=lambda _: 0,
        render_step=lambda text: text,
    )


def settings_for(base_url: str, **more: Any) -> Settings:
    """Settings of a run with the agent `tools`, all roles played by the model at this address."""
    plain = {"agent": "tools", "model": "x", "model_base_url": base_url, "retries": 0, "max_steps": 5}
    return Settings(**{**plain, **more})


def counting(account: Account) -> Callable[[], bool]:
    """Lets every call of a tool be made, and tells the account of it."""

    def grant() -> bool:
        account.call()
        return True

    return grant


async def with_company(
    bench: ToolHost,
    settings: Settings,
    work: Callable[[Models, AgentTrials], Awaitable[T]],
    account: Account = UNCOUNTED,
) -> T:
    """What comes of work with the models that the settings name, and their agent with the tools of a bench."""
    agent = find_agent(settings)
    role_models = RoleModels(settings, Prompts(settings.prompts), account, lambda _: None)
    try:
        return await work(
            role_models, Trier(agent, bench, settings, account, lambda: None, counting(account))
        )
    finally:
        await role_models.close()
        await agent.close()
