"""An MCP client as users write them: the tools of an `mcp.json`, a loop of its own on the OpenAI SDK.

usage: openai_loop.py CONFIG [REQUEST], or the request on standard input
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import openai
from mcp import Client, StdioServerParameters


async def main(config: str, request: str) -> None:
    entry = json.loads(Path(config).read_text())["mcpServers"]["misstep"]
    target = entry["url"] if "url" in entry else StdioServerParameters(**entry)
    async with Client(target) as tools, openai.AsyncOpenAI(max_retries=0) as model:
        print(await answer(model, tools, request))


async def answer(model: openai.AsyncOpenAI, tools: Client, request: str) -> str:
    offered: Any = [described(tool) for tool in (await tools.list_tools()).tools]
    messages: list[Any] = [{"role": "user", "content": request}]
    while True:
        reply = await model.chat.completions.create(model="gpt-4o", messages=messages, tools=offered)
        message: Any = reply.choices[0].message
        messages.append(message.to_dict())
        for call in message.tool_calls or ():
            result = await carried_out(tools, call.function)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            return message.content or ""


def described(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


async def carried_out(tools: Client, function: Any) -> str:
    try:
        arguments = json.loads(function.arguments)
    except ValueError as error:
        return f"Error: {error}"
    result: Any = await tools.call_tool(function.name, arguments)
    return result.content[0].text


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if sys.argv[2:] else sys.stdin.read()))
