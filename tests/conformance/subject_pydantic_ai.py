"""Agents of Pydantic AI: one that exists, one that is made for its tools, one that streams."""

from collections.abc import AsyncIterable, Callable
from typing import Any

from misstep.adapters.frameworks.pydantic_ai import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subject_openai_agents import Client, connected
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["pydantic_ai"].agent


def made_with(build: Callable[[Client, list[Any]], Any]) -> Callable[[ScriptedServer], Agent]:
    """What makes an agent of a factory that needs a client."""

    def make(server: ScriptedServer) -> Agent:
        client = connected(server)
        return Owning(agent(lambda tools: build(client, tools), "pydantic ai"), client.close)

    return make


def existing(build: Callable[[Client, list[Any]], Any]) -> Callable[[ScriptedServer], Agent]:
    """What makes an agent of an object that has a tool of its own already."""

    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    def make(server: ScriptedServer) -> Agent:
        client = connected(server)
        native = build(client, [own_tool])
        return Owning(agent(retool(native), "pydantic ai object"), client.close)

    return make


def on_chat(client: Client, tools: list[Any], **options: Any) -> Any:
    import pydantic_ai
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client))
    settings = pydantic_ai.ModelSettings(temperature=0)
    return pydantic_ai.Agent(model, tools=tools, model_settings=settings, **options)


def on_responses(client: Client, tools: list[Any]) -> Any:
    import pydantic_ai
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(openai_client=client))
    return pydantic_ai.Agent(model, tools=tools, model_settings=pydantic_ai.ModelSettings(temperature=0))


def streaming(client: Client, tools: list[Any]) -> Any:
    """An agent streams if somebody listens to its events."""
    from pydantic_ai.capabilities import ProcessEventStream

    async def listen(context: Any, events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    return on_chat(client, tools, capabilities=[ProcessEventStream(listen)])


NEEDS = ("pydantic_ai",)
SUBJECTS = [
    Subject("pydantic ai object", existing(on_chat), NEEDS),
    Subject("pydantic ai on responses", made_with(on_responses), NEEDS),
    Subject("pydantic ai streaming", existing(streaming), NEEDS),
]
