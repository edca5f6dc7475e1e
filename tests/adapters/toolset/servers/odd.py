"""An MCP server whose tools do everything that a client has to be ready for.

usage: odd.py [http|sse], which print their URL; over standard input and output without
"""

import os
import signal
import sys

from mcp import MCPError
from mcp.server import MCPServer
from mcp.types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel
from shop import listen  # beside this file, which is run by itself

server = MCPServer("odd")
seen = list[str]()


class Pair(BaseModel):
    left: int
    right: int


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))
def echo(text: str = "") -> str:
    """Say it again."""
    return text


@server.tool()
def remember(text: str) -> str:
    """Keep it, and tell all that was kept."""
    seen.append(text)
    return ", ".join(seen)


@server.tool()
def pair(left: int) -> Pair:
    """Two numbers."""
    return Pair(left=left, right=left + 1)


@server.tool()
def fail(text: str) -> str:
    """Break."""
    return {"a": 1}[text]  # type: ignore[return-value, index]


@server.tool()
def parts() -> CallToolResult:
    """More than text."""
    return CallToolResult(
        content=[TextContent(text="one"), ImageContent(data="AAAA", mime_type="image/png")],
        structured_content={"wrong": "shape"},
    )


@server.tool()
def refuse(code: int) -> str:
    """Answer with an error of the protocol."""
    raise MCPError(code=code, message="that is not for you")


@server.tool()
def die(how: str) -> str:
    """End the process."""
    print(f"the end is near, {os.environ.get('ODD_API_KEY')}", file=sys.stderr, flush=True)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(3)


def main(transport: str) -> None:
    if transport == "stdio":
        server.run("stdio")
    else:
        listen(server, transport)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "stdio")
