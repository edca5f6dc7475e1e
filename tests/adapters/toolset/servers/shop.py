"""An MCP server as users write them, with the SDK.

usage: shop.py [http|sse], which print their URL; over standard input and output without
"""

import os
import socket
import sys
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

server = MCPServer("shop")


class Address(BaseModel):
    street: str
    zip: Annotated[str, Field(pattern=r"^\d{5}$")]


@server.tool()
def order(item: str, to: Address, amount: Annotated[int, Field(ge=1, description="How many.")] = 1) -> str:
    """Order an item."""
    raise AssertionError("a tool was called")


@server.tool(description="Cancel an order.")
def cancel(order_id: int, reason: Literal["late", "broken"]) -> str:
    raise AssertionError("a tool was called")


def main(transport: str) -> None:
    print(f"the key is {os.environ.get('SHOP_KEY')}", file=sys.stderr)
    if os.environ.get("SHOP_KEY") == "wrong":
        sys.exit(3)
    if transport == "stdio":
        server.run("stdio")
        return
    listen(server, transport)


def listen(server: MCPServer, transport: str) -> None:
    """Serve on a free port, and print the URL."""
    import uvicorn

    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    listener = socket.create_server(("127.0.0.1", 0))
    print(
        f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if transport == 'sse' else 'mcp'}", flush=True
    )
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "stdio")
