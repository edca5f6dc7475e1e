"""Plain functions with a loop of their own on the OpenAI SDK, as users write them."""

import json
from typing import Any

import openai

from misstep.adapters.loading.recognition import PlainAgent, PlainTool
from misstep.core.agent import Agent
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer


def make_sync(server: ScriptedServer) -> Agent:
    def agent(request: str, tools: list[PlainTool]) -> str:
        with openai.OpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0) as client:
            messages: list[Any] = [{"role": "user", "content": request}]
            while True:
                reply = client.chat.completions.create(
                    model="gpt-4o", messages=messages, tools=described(tools)
                )
                if not advance(messages, reply.choices[0].message, tools):
                    return reply.choices[0].message.content or ""

    return PlainAgent(agent, "plain")


def make_async(server: ScriptedServer) -> Agent:
    async def agent(request: str, tools: list[PlainTool]) -> str:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0) as client:
            messages: list[Any] = [{"role": "user", "content": request}]
            while True:
                reply = await client.chat.completions.create(
                    model="gpt-4o", messages=messages, tools=described(tools)
                )
                if not advance(messages, reply.choices[0].message, tools):
                    return reply.choices[0].message.content or ""

    return PlainAgent(agent, "plain async")


def described(tools: list[PlainTool]) -> Any:
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return [{"type": "function", "function": function} for function in functions]


def advance(messages: list[Any], message: Any, tools: list[PlainTool]) -> bool:
    """Carry out the calls of a message; whether there were any. Bad calls are the user's own business."""
    known = {tool.name: tool for tool in tools}
    messages.append(message.to_dict())
    for call in message.tool_calls or ():
        try:
            result = known[call.function.name](**json.loads(call.function.arguments))
        except (KeyError, ValueError) as error:
            result = f"Error: {error!r}"
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return bool(message.tool_calls)


# The function itself deals with bad calls, turns and tokens; misstep sees only what is carried out. A thread
# that waits for an answer can't be stopped, so its socket lives on until the answer comes or the process ends.
HIDDEN = ("malformed", "unknown", "turns", "usage")
SUBJECTS = [
    Subject("plain", make_sync, ("openai",), hides=(*HIDDEN, "sockets")),
    Subject("plain async", make_async, ("openai",), hides=HIDDEN),
]
