"""A client on the SDK of the 1.x generation: calls all tools in the order listed, prints what they say.

usage: sdk1.py CONFIG
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def wire(entry: dict[str, Any]) -> Any:
    if "url" in entry:
        return streamablehttp_client(entry["url"])
    return stdio_client(StdioServerParameters(**entry))


async def main(config: str) -> None:
    entry = json.loads(Path(config).read_text())["mcpServers"]["misstep"]
    async with wire(entry) as (read, write, *_), ClientSession(read, write) as client:
        version = (await client.initialize()).protocolVersion
        names = [tool.name for tool in (await client.list_tools()).tools]
        said = [(await client.call_tool(name, {})).content[0].text for name in names]
        print(json.dumps({"version": version, "tools": names, "said": said}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
