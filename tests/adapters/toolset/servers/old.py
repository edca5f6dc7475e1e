"""An MCP server of the SDK's first generation."""

from mcp.server.fastmcp import FastMCP

server = FastMCP("old")


@server.tool()
def greet(name: str, times: int = 1) -> str:
    """Say hello."""
    raise AssertionError("a tool was called")


if __name__ == "__main__":
    server.run()
