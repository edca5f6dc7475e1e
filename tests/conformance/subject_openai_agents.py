"""Agents of the OpenAI Agents SDK: one that exists, on chat completions, and one that is made, on responses."""

from collections.abc import Callable
from typing import Any

import openai

from misstep.adapters.frameworks.openai_agents import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["openai_agents"].agent

Client = openai.AsyncOpenAI


def connected(server: ScriptedServer) -> Client:
    transport = openai.DefaultAsyncHttpxClient(verify=False)  # certificates take most of a client's start
    return Client(base_url=server.base_url, api_key="sk-test", max_retries=0, http_client=transport)


def made_with(build: Callable[[Client, list[Any]], Any]) -> Callable[[ScriptedServer], Agent]:
    """What makes an agent of a factory that needs a client."""

    def make(server: ScriptedServer) -> Agent:
        client = connected(server)
        return Owning(agent(lambda tools: build(client, tools), "openai agents"), client.close)

    return make


def on_chat(client: Client, tools: list[Any], **options: Any) -> Any:
    import agents

    model = agents.OpenAIChatCompletionsModel("gpt-4o", client)
    settings = agents.ModelSettings(temperature=0)
    return agents.Agent(name="me", model=model, model_settings=settings, tools=tools, **options)


def on_responses(client: Client, tools: list[Any]) -> Any:
    import agents

    model = agents.OpenAIResponsesModel("gpt-4o", client)
    return agents.Agent(
        name="me", model=model, model_settings=agents.ModelSettings(temperature=0), tools=tools
    )


def make_from_object(server: ScriptedServer) -> Agent:
    import agents

    @agents.function_tool
    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    client = connected(server)
    native = on_chat(client, [own_tool])
    return Owning(agent(retool(native), "openai agents object"), client.close)


NEEDS = ("agents",)
SUBJECTS = [
    Subject("openai agents object", make_from_object, NEEDS),
    Subject("openai agents on responses", made_with(on_responses), NEEDS),
]
