"""A function with a loop of its own on the OpenAI SDK."""

import json
import os
from typing import Any

import openai


def agent(request: str, tools: list[Any]) -> str:
    with openai.OpenAI(base_url=os.environ["TEST_BASE_URL"], api_key="sk-test", max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": request}]
        while True:
            message = ask(client, messages, tools)
            if not message.tool_calls:
                return message.content or ""
            messages.append(message.to_dict())
            messages += [carry_out(call, tools) for call in message.tool_calls]


def ask(client: openai.OpenAI, messages: list[Any], tools: list[Any]) -> Any:
    functions: Any = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    described: Any = [{"type": "function", "function": function} for function in functions]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=described)
    return reply.choices[0].message


def carry_out(call: Any, tools: list[Any]) -> Any:
    known = {tool.name: tool for tool in tools}
    try:
        result = known[call.function.name](**json.loads(call.function.arguments))
    except (KeyError, ValueError) as error:
        result = f"Error: {error!r}"
    return {"role": "tool", "tool_call_id": call.id, "content": result}
