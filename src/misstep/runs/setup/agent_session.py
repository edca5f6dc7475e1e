"""Sets up the agent and the models for tests of tools through an agent."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from misstep.core.outcome import Usage
from misstep.core.results.trial import Trial
from misstep.core.settings import AgentRunSettings, AgentSettings, Settings, ToolRunSettings
from misstep.core.spending import AGENT, Spent, UsageCounter, tokens_of
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.judging.endings import UNREACHABLE
from misstep.runs.budget import RunBudget, pricing, unpriced_models
from misstep.runs.execution import at_work
from misstep.runs.setup.agents import PARADIGMS, check_agent, find_agent, unknown_agent
from misstep.runs.setup.models import Tell, open_model
from misstep.runs.setup.roles import Outage, RoleModels
from misstep.runs.setup.trying import Trier
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench

MARK = "above the limit of"
NAP = 0.2  # seconds between two checks whether to stop

T = TypeVar("T")


class Over(Exception):
    """The time or the budget does not allow another request."""


AgentGroup = TypeVar("AgentGroup", bound=AgentSettings)


def agent_settings(settings: AgentGroup) -> AgentGroup:
    """The settings for the agent: the interpreter is for the tools, unless the agent is code as well."""
    kind, _, rest = settings.agent.partition(":")
    if kind == "sim":
        hint = f"use an agent that reads requests: {', '.join(PARADIGMS)}, or your own (file.py:name)"
        raise UsageError(f"'{settings.agent}' can't call real tools", hint, where="--agent")
    if not rest and settings.agent not in PARADIGMS:
        raise unknown_agent(settings.agent, list(PARADIGMS))
    return settings if rest and kind != "mcp" else settings.overlay({"python": ""})


def refuse_missing(settings: AgentRunSettings) -> None:
    """Check that the agent and all models can be found before anything is done."""
    check_agent(agent_settings(settings))
    roles = ("generator", "judge", *([AGENT] if settings.agent in PARADIGMS else []))

    async def look() -> None:
        for role in roles:
            await open_model(settings, lambda _: None, role).close()

    asyncio.run(look())


class UsageMeter(UsageCounter):
    """Counts what the tests of one tool use, also for the run. Only calls that were allowed count."""

    def __init__(self, run_budget: RunBudget) -> None:
        super().__init__()
        self._run_budget = run_budget

    @property
    def calls(self) -> int:
        return self.spent.calls

    def spend(self, role: str, usage: Usage) -> None:
        super().spend(role, usage)
        self._run_budget.spend(role, usage)

    def call(self) -> None:
        self._run_budget.call()

    def grant(self) -> bool:
        """Whether one more call of a tool may be made; it counts as made."""
        granted = self._run_budget.reserve_calls(1)
        self.add(Spent(calls=granted))
        return granted == 1

    def added_to(self, before: Mapping[str, Usage]) -> dict[str, Usage]:
        return dict(sorted((Spent(before) + self.spent).usage.items()))


class AgentSession:
    """Sets up agent and models for one tool after the other, within the limits."""

    def __init__(
        self, settings: ToolRunSettings, prompts: Prompts, run_budget: RunBudget, tell: Tell
    ) -> None:
        self._settings = settings
        self._run_budget = run_budget
        self._prompts = prompts
        self._price = pricing(settings)
        self._tell = tell
        self._outage = Outage()
        self._told = set[str]()

    @asynccontextmanager
    async def gathered(
        self, bench: ToolHost | JoinedBench, usage_meter: UsageMeter
    ) -> AsyncIterator[tuple[RoleModels, Trier]]:
        """Models and an agent for this event loop. They raise `Over` instead of starting another request."""
        settings = self._settings
        agent = find_agent(agent_settings(settings), self._tell, self._run_budget.rate_limiters)
        async with self.advised(usage_meter) as role_models, at_work(agent):
            yield (
                role_models,
                Trier(agent, bench, settings, usage_meter, self.go_on, usage_meter.grant, self._outage),
            )

    @asynccontextmanager
    async def advised(self, usage_meter: UsageMeter) -> AsyncIterator[RoleModels]:
        rate_limiters = self._run_budget.rate_limiters
        role_models = RoleModels(
            self._settings, self._prompts, usage_meter, lambda _: self.go_on(), self._tell, rate_limiters
        )
        try:
            yield role_models
        finally:
            await role_models.close()

    def is_over(self) -> bool:
        return self._run_budget.is_over() or bool(self._run_budget.lacking)

    def go_on(self) -> None:
        if self.is_over():
            raise Over

    def marks_passed(self, usage: Mapping[str, Usage]) -> list[str]:
        """The soft limits for one tool that were exceeded; they stop nothing."""
        tokens = tokens_of(usage)
        usd = sum(self._price(role, each) for role, each in usage.items())
        notes = list[str]()
        if tokens > self._settings.tokens_per_tool:
            notes.append(f"{tokens:,} tokens were used, {MARK} {self._settings.tokens_per_tool:,}")
        if usd > self._settings.usd_per_tool:
            notes.append(f"{usd:.4f} USD were spent, {MARK} {self._settings.usd_per_tool:g}")
        has_limit = self._settings.usd_per_tool != Settings().usd_per_tool
        for model in unpriced_models(self._settings, usage) if has_limit else ():
            if model not in self._told:
                self._told.add(model)
                mark = f"the limit of {self._settings.usd_per_tool:g} USD per tool can't be checked"
                self._tell(f"the price of {model} is unknown, so {mark}: add it with --prices")
        return notes


def refuse_unreachable(trials: Sequence[Trial]) -> None:
    """Raise if a server was unreachable: this says nothing about its tools, and is tried again later."""
    for use in [use for trial in trials for use in trial.uses][-1:]:
        if use.judged.ruling == "environment" and use.judged.why.startswith(UNREACHABLE):
            raise UsageError(use.judged.why)


async def unless(over: Callable[[], bool], work: Awaitable[T], until: float) -> T:
    """The result of `work`. Raises `Over` as soon as it is over, a TimeoutError at the time `until`."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            if over():
                raise Over
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            await asyncio.wait([task], timeout=min(NAP, left))
        if time.monotonic() >= until:
            raise TimeoutError  # a late result may have been made without tools
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait([task])
        task.cancelled() or task.exception()  # avoids a warning that it was never retrieved
