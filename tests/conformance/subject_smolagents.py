"""A tool-calling agent of smolagents on OpenAI's chat completions, given as a factory and as an object."""

import json
from typing import Any

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

framework = FRAMEWORKS["smolagents"]


def conversing(server: ScriptedServer) -> Any:
    """A model that sends calls and results as OpenAI means them.

    The framework's own writes them into plain text, which a scripted model doesn't read, and wants a tool
    called for the answer, which it doesn't know.
    """
    from smolagents import ChatMessage, OpenAIModel, TokenUsage

    class Conversing(OpenAIModel):  # type: ignore[misc]
        def generate(self, messages: Any, **options: Any) -> Any:
            offered = self._prepare_completion_kwargs([], **options)["tools"]
            tools = [tool for tool in offered if tool["function"]["name"] != "final_answer"]
            reply = self.client.chat.completions.create(
                model=self.model_id, messages=translated(messages), tools=tools
            )
            said = reply.choices[0].message
            spent = TokenUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
            calls = said.tool_calls or [answering(said.content)]
            return ChatMessage("assistant", json.dumps(said.to_dict()), calls, token_usage=spent)

    return Conversing("gpt-4o", api_base=server.base_url, api_key="sk-test", client_kwargs={"max_retries": 0})


def translated(messages: Any) -> list[dict[str, Any]]:
    """What the framework remembers of a conversation as messages of OpenAI's; all of a reply is in its text."""
    spoken = list[dict[str, Any]]()
    for message in messages:
        text = message.content[0]["text"]
        if message.role == "assistant":
            spoken.append(json.loads(text))
        elif message.role == "tool-response":
            results = [
                {"role": "tool", "tool_call_id": call["id"]} for call in spoken[-1].get("tool_calls", ())
            ]
            spoken += [{**result, "content": text} for result in results]
        elif message.role in ("system", "user"):
            spoken.append({"role": str(message.role.value), "content": text})
    return spoken


def answering(text: str) -> dict[str, Any]:
    return {
        "id": "answer",
        "type": "function",
        "function": {"name": "final_answer", "arguments": {"answer": text}},
    }


def owning(agent: Agent, model: Any) -> Agent:
    async def close() -> None:
        model.client.close()

    return Owning(agent, close)


def make_from_factory(server: ScriptedServer) -> Agent:
    from smolagents import ToolCallingAgent

    model = conversing(server)
    return owning(framework.agent(lambda tools: ToolCallingAgent(tools, model), "smolagents"), model)


def make_from_object(server: ScriptedServer) -> Agent:
    from smolagents import ToolCallingAgent, VisitWebpageTool

    model = conversing(server)
    native = ToolCallingAgent([VisitWebpageTool()], model)
    return owning(
        framework.agent(framework.adapter.retool(native), "smolagents object"),
        model,
    )


NEEDS = ("smolagents", "openai")
# The framework is synchronous: a thread that waits for an answer can't be stopped, so its socket lives on until
# the answer comes or the process ends.
HIDDEN = ("sockets",)
# It looks at the names of arguments, at the types of those that have a simple one, and at what is missing.
CHECKED = ("wrong type", "null", "missing", "unknown name")
SUBJECTS = [
    Subject("smolagents", make_from_factory, NEEDS, hides=HIDDEN, checks=CHECKED),
    Subject("smolagents object", make_from_object, NEEDS, hides=HIDDEN, checks=CHECKED),
]
