"""Agents with the recording proxy between them and their model."""

import asyncio
import os
from collections.abc import Callable, Mapping

from misstep.adapters.mcp.client import McpAgent
from misstep.adapters.proxy import ProxiedAgent, RecordingProxy
from misstep.api.models import name_model
from misstep.core.agent import Agent, Answer, Assignment, Preparing, Toolbox
from misstep.core.settings import Settings
from misstep.models.providers import check_base_url, load_providers

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"


def watch(settings: Settings, make: Callable[[Settings], Agent]) -> Agent:
    """The agent that `make` gives while the usual variables point its clients at the proxy."""
    proxy = RecordingProxy(find_upstream(settings, os.environ))
    asyncio.run(proxy.start())
    root = proxy.base_url.removesuffix("/v1")
    before = _set({"OPENAI_BASE_URL": proxy.base_url, "ANTHROPIC_BASE_URL": root, **_no_proxy()})
    try:
        agent = make(settings)
    except BaseException:
        _set(before)
        asyncio.run(proxy.close())
        raise
    return Watched(ProxiedAgent(agent, proxy, by_address=isinstance(agent, McpAgent)), agent, before)


def find_upstream(settings: Settings, environment: Mapping[str, str]) -> str:
    """Where the requests go in the end: what the user says, or what the agent would have used."""
    if settings.model_base_url:
        return check_base_url(settings.model_base_url)
    model = name_model(settings)
    if model and model.provider == "anthropic":
        found = environment.get("ANTHROPIC_BASE_URL")
        return f"{found.rstrip('/')}/v1" if found else ANTHROPIC
    known = load_providers()[model.provider].base_url if model else ""
    return environment.get("OPENAI_BASE_URL") or known or OPENAI


def _no_proxy() -> dict[str, str]:
    """The variables that keep clients from going to our own machine by way of another."""
    spared = ",".join(filter(None, [os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), "127.0.0.1"]))
    return {"NO_PROXY": spared, "no_proxy": spared}


class Watched:
    """A proxied agent that puts the variables back when it is done."""

    def __init__(self, agent: ProxiedAgent, inner: Agent, before: Mapping[str, str | None]) -> None:
        self.name = agent.name
        self._agent = agent
        self._inner = inner
        self._before = before

    async def prepare(self) -> None:
        if isinstance(self._inner, Preparing):
            await self._inner.prepare()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        return await self._agent.run(assignment, toolbox)

    async def close(self) -> None:
        _set(self._before)
        await self._agent.close()


def _set(variables: Mapping[str, str | None]) -> dict[str, str | None]:
    """Set environment variables, or take them away; gives what they were."""
    before = {name: os.environ.get(name) for name in variables}
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
