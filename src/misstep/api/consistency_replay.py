"""A set of requests, put to the same agent once more."""

import asyncio

from misstep.api.agent_session import AgentSession, UsageMeter
from misstep.api.allowance import Allowance
from misstep.api.consistency import find_set, find_tools
from misstep.api.masking import masked
from misstep.api.models import Tell
from misstep.api.questioning import approach_of
from misstep.api.trust import with_agent
from misstep.api.workbenches import Workbenches
from misstep.core.consistency import PromptSet
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.tool_host.process import Process
from misstep.tooling.asking.consistency.baseline import examine_request
from misstep.tooling.asking.consistency.inquiry import examine_set
from misstep.tooling.asking.consistency.making import Draft
from misstep.tooling.asking.prompts import Prompts


def replay_set(
    settings: Settings, run: str, name: str, tell: Tell = lambda _: None
) -> tuple[PromptSet, PromptSet]:
    """A set of a run, and what comes of its requests when they are put and judged once more."""
    stored, report, before = find_set(settings, run, name)
    if not before.requests:
        raise UsageError(f"set {before.id} has no requests", before.why)
    own = with_agent(settings, stored).settings
    with Workbenches(own) as benches:
        for target in find_tools(benches, stored.purpose.tools, own):
            if target.name == report.name:
                with benches.lend(target.spec) as bench:
                    again = _replay(bench, target.among(bench.tools)[0], before, own, tell)
                    return before, masked(asyncio.run(again))
    raise UsageError(f"there is no tool '{report.name}' now", where=", ".join(stored.purpose.tools))


async def _replay(
    bench: Process, tool: Described, before: PromptSet, settings: Settings, tell: Tell
) -> PromptSet:
    allowance = Allowance(Budget(), Spent())
    company = AgentSession(settings, Prompts(settings.prompts), allowance, tell)
    async with company.gathered(bench, UsageMeter(allowance)) as (models, trials):
        if settings.tool_method != "toolfuzz":
            return await examine_request(before.requests[0], tool, models, trials)
        draft = Draft(before.template, before.infills, before.requests)
        return await examine_set(draft, tool, models, trials, approach_of(settings))
