"""An agent of the OpenAI Agents SDK whose tools come from the server of an `mcp.json`.

usage: openai_agents.py CONFIG REQUEST
"""

import asyncio
import json
import sys
from pathlib import Path

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp


def server_of(config: str) -> MCPServer:
    entry = json.loads(Path(config).read_text())["mcpServers"]["misstep"]
    if "url" in entry:
        return MCPServerStreamableHttp(params={"url": entry["url"]})
    return MCPServerStdio(params=entry)


async def main(config: str, request: str) -> None:
    async with server_of(config) as server:
        agent = Agent(name="agent", model="gpt-4o", mcp_servers=[server])
        result = await Runner.run(agent, request, max_turns=50)
        print(result.final_output)


if __name__ == "__main__":
    set_tracing_disabled(True)
    set_default_openai_api("chat_completions")
    asyncio.run(main(sys.argv[1], sys.argv[2]))
