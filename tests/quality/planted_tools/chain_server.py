"""A server whose replies don't tell how far a call got: only its code does."""

import os

from mcp.server.mcpserver import MCPServer

app = MCPServer("labels")


@app.tool()
def print_labels(title: str, copies: int, tags: list[str]) -> str:
    """Print labels for a shelf."""
    if copies % 8 != 5:
        return "printed"
    if "-" not in title:
        return "printed"
    if len(tags) != 3:
        return "printed"
    os._exit(70)


if __name__ == "__main__":
    app.run()
