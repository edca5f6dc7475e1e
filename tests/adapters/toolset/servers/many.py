"""An MCP server that tells of its tools page by page."""

from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool


async def listed(_context: Any, params: Any) -> ListToolsResult:
    page = int((params and params.cursor) or 0)
    tools = [Tool(name=f"tool_{page}_{number}", input_schema={"type": "object"}) for number in range(3)]
    return ListToolsResult(tools=tools, next_cursor=str(page + 1) if page < 4 else None)


async def main() -> None:
    server: Any = Server("many", on_list_tools=listed)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
