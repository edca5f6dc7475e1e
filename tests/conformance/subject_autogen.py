"""An assistant of AutoGen AgentChat on OpenAI's chat completions: from a factory, as an object, in a team."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.frameworks.autogen import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["autogen"].agent

Client = Any


def connected(server: ScriptedServer) -> Client:
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    return OpenAIChatCompletionClient(
        model="gpt-4o-2024-08-06", base_url=server.base_url, api_key="sk-test", max_retries=0
    )


def assistant(client: Client, tools: list[Any], **options: Any) -> Any:
    from autogen_agentchat.agents import AssistantAgent

    return AssistantAgent("me", client, tools=tools, **{"max_tool_iterations": 100, **options})


def made_with(build: Callable[[Client, list[Any]], Any]) -> Callable[[ScriptedServer], Agent]:
    """What makes an agent of a factory that needs a client."""

    def make(server: ScriptedServer) -> Agent:
        client = connected(server)
        return Owning(agent(lambda tools: build(client, tools), "autogen"), client.close)

    return make


def make_from_object(server: ScriptedServer) -> Agent:
    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    client = connected(server)
    native = assistant(client, [own_tool])
    return Owning(agent(retool(native), "autogen object"), client.close)


def team(client: Client, tools: list[Any]) -> Any:
    from autogen_agentchat.conditions import TextMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat

    return RoundRobinGroupChat([assistant(client, tools)], termination_condition=TextMessageTermination("me"))


NEEDS = ("autogen_agentchat", "autogen_ext", "openai", "tiktoken")
SUBJECTS = [
    Subject("autogen", made_with(assistant), NEEDS),
    Subject("autogen object", make_from_object, NEEDS),
    Subject("autogen team", made_with(team), NEEDS),
]
