"""Runs agents with the recording proxy between them and their model."""

import os
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction

from misstep.adapters.mcp.agent import McpAgent
from misstep.adapters.proxy.agent import ProxiedAgent, RecordingProxy, for_anthropic, for_openai
from misstep.core.agent import Agent, Answer, Assignment, Preparing, Toolbox
from misstep.core.settings import AgentRunSettings, ModelSettings
from misstep.models.providers import check_base_url, load_providers
from misstep.runs.setup.agents import check_found
from misstep.runs.setup.models import Tell, name_model

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"


class WatchedAgent:
    """The agent that `make` returns, with the address in its model SDK's variable set to the proxy.

    Only one kind of interface is recorded, so that no provider gets the key for another.
    """

    def __init__(
        self, settings: AgentRunSettings, make: Callable[[AgentRunSettings], Agent], tell: Tell
    ) -> None:
        self.name = settings.agent
        model = name_model(settings)
        self._variables = for_anthropic if model and model.provider == "anthropic" else for_openai
        self._proxy = RecordingProxy(find_upstream(settings, os.environ))
        self._settings = settings
        self._make = make
        self._tell = tell
        self._before: Mapping[str, str | None] = {}
        self._agent: ProxiedAgent | None = None

    def check(self) -> None:
        """Raise for a missing package or MCP client; other agents are loaded by `prepare`."""
        self._proxy.check()
        if self.name.startswith("mcp:"):
            check_found(self._make(self._settings))

    async def prepare(self) -> None:
        """Start the proxy, then load the agent: its clients read the address when they are created."""
        await self._proxy.start()
        # Clients must not use another proxy for this machine.
        spared = os.environ.get("NO_PROXY") or os.environ.get("no_proxy")
        no_proxy = ",".join(filter(None, [spared, "127.0.0.1"]))
        address = self._variables(self._proxy.base_url)
        self._before = _set({**address, "NO_PROXY": no_proxy, "no_proxy": no_proxy})
        inner = self._make(self._settings)
        by_address = isinstance(inner, McpAgent)
        self._agent = ProxiedAgent(inner, self._proxy, by_address, self._variables)
        if isinstance(inner, Preparing) and iscoroutinefunction(inner.prepare):
            await inner.prepare()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        if self._agent is None:
            await self.prepare()
        assert self._agent is not None
        return await self._agent.run(assignment, toolbox)

    async def close(self) -> None:
        _set(self._before)
        if self._proxy.unseen:
            variable = next(iter(self._variables("")))
            self._tell(
                f"{self._proxy.unseen} cases did not reach their model through the recording proxy: "
                f"does the agent use {variable}?"
            )
        await (self._agent or self._proxy).close()


def find_upstream(settings: ModelSettings, environment: Mapping[str, str]) -> str:
    """Where requests are forwarded: what the user says, or what the agent would have used."""
    if settings.model_base_url:
        return check_base_url(settings.model_base_url)
    model = name_model(settings)
    if model and model.provider == "anthropic":
        found = environment.get("ANTHROPIC_BASE_URL")
        return f"{found.rstrip('/')}/v1" if found else ANTHROPIC
    known = load_providers()[model.provider].base_url if model else ""
    return environment.get("OPENAI_BASE_URL") or known or OPENAI


def _set(variables: Mapping[str, str | None]) -> dict[str, str | None]:
    before = {name: os.environ.get(name) for name in variables}
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
