"""Work on sets of requests, done by the real agent with real tools and models behind a real server."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from misstep.core.outcome import Usage
from misstep.core.results.consistency import PromptSet
from misstep.core.spending import UNCOUNTED, Account
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.fuzzing.consistency.inquiry import examine_set
from misstep.fuzzing.consistency.making import Approach, SetDraft, make_sets
from misstep.tool_host.host import ToolHost
from tests.fuzzing.agent_tests.scripted_roles import settings_for, stage_of, with_company
from tests.fuzzing.consistency.roads import STIFF, TEMPLATE, typed
from tests.scripted import Script, ScriptedServer

FOUR = Approach(variants=4)
DRAFT = SetDraft(TEMPLATE, {}, tuple(map(typed, STIFF)))

Prompted = list[str]
Work = Callable[[Described, Models, AgentTrials], Any]


class Ledger:
    """An account that keeps what it hears."""

    def __init__(self) -> None:
        self.roles = Counter[str]()
        self.calls = 0

    def spend(self, role: str, usage: Usage) -> None:
        self.roles[role] += 1

    def call(self) -> None:
        self.calls += 1


def perform(
    bench: ToolHost, script: Script, work: Work, tool: str = "road", account: Account = UNCOUNTED
) -> tuple[Any, Prompted]:
    """What comes of the work, and all prompts that the model has seen, those of the agent included."""
    (described,) = [each for each in bench.tools if each.name == tool]
    with ScriptedServer(script) as server:
        settings = settings_for(server.base_url)
        found = asyncio.run(
            with_company(bench, settings, lambda models, trials: work(described, models, trials), account)
        )
        said = [request.body["messages"] for request in server.model_requests]
    return found, ["\n".join(each["content"] or "" for each in messages) for messages in said]


def examine(
    bench: ToolHost, script: Script, approach: Approach = FOUR, draft: SetDraft = DRAFT, tool: str = "road"
) -> tuple[PromptSet, Counter[Stage | None]]:
    """The verdict on a set, and how often each stage was asked for."""

    async def work(described: Described, models: Models, trials: AgentTrials) -> PromptSet:
        return await examine_set(draft, described, models, trials, approach)

    found, prompts = perform(bench, script, work, tool)
    assert msgspec.json.decode(msgspec.json.encode(found), type=PromptSet) == found
    return found, Counter(map(stage_of, prompts))


async def whole(described: Described, models: Models, trials: AgentTrials) -> list[PromptSet]:
    """A set from its template to its verdict."""
    made = make_sets(described, models, FOUR, 1)
    return [await examine_set(draft, described, models, trials, FOUR) async for draft in made]
