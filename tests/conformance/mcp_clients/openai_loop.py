"""An MCP client as users write them: the tools of an `mcp.json`, a loop of its own on a model.

No SDK talks to the model: none would show us more, and each would take half of every start.

usage: openai_loop.py CONFIG [REQUEST], or the request on standard input
"""

import asyncio
import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters


async def main(config: str, request: str) -> None:
    entry = json.loads(Path(config).read_text())["mcpServers"]["misstep"]
    target = entry["url"] if "url" in entry else StdioServerParameters(**entry)
    async with Client(target) as tools:
        print(await answer(tools, request))


async def answer(tools: Client, request: str) -> str:
    offered = [described(tool) for tool in (await tools.list_tools()).tools]
    messages: list[Any] = [{"role": "user", "content": request}]
    while True:
        message = await asyncio.to_thread(ask, messages, offered)
        messages.append(message)
        for call in message.get("tool_calls") or ():
            result = await carried_out(tools, call["function"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if not message.get("tool_calls"):
            return message["content"] or ""


def ask(messages: list[Any], tools: list[Any]) -> Any:
    body = json.dumps({"model": "gpt-4o", "messages": messages, "tools": tools}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", body, headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def described(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


async def carried_out(tools: Client, function: dict[str, str]) -> str:
    try:
        arguments = json.loads(function["arguments"])
    except ValueError as error:
        return f"Error: {error}"
    try:
        result: Any = await tools.call_tool(function["name"], arguments)
    except MCPError as error:
        return f"Error: {error}"
    return result.content[0].text


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if sys.argv[2:] else sys.stdin.read()))
