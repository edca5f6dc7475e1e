"""An agent of Microsoft's Agent Framework on OpenAI's chat completions, given as a factory and as an object."""

from typing import Any

from misstep.adapters.frameworks.agent_framework import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["agent_framework"].agent


def connected(server: ScriptedServer) -> tuple[Any, Any]:
    """A client of the framework, and the SDK's client inside it."""
    import openai
    from agent_framework.openai import OpenAIChatCompletionClient

    sdk = openai.AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0)
    return OpenAIChatCompletionClient("gpt-4o", async_client=sdk), sdk


def make_from_factory(server: ScriptedServer) -> Agent:
    from agent_framework import Agent as Native

    client, sdk = connected(server)
    return Owning(
        agent(lambda tools: Native(client, "Do as asked.", tools=tools), "agent framework"), sdk.close
    )


def make_from_object(server: ScriptedServer) -> Agent:
    from agent_framework import Agent as Native

    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    client, sdk = connected(server)
    native = Native(client, "Do as asked.", tools=[own_tool])
    return Owning(agent(retool(native), "agent framework object"), sdk.close)


NEEDS = ("agent_framework", "agent_framework_openai", "openai")
SUBJECTS = [
    Subject("agent framework", make_from_factory, NEEDS),
    Subject("agent framework object", make_from_object, NEEDS),
]
