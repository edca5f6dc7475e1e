"""Some of the tools behind an MCP server, as the SDK makes one."""

from data_tools import customer_city
from innocent_tools import capital, echo, pick
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from number_tools import average, nth_prime
from text_tools import find_ticket

server = MCPServer("planted", log_level="CRITICAL")
for function in (customer_city, average, nth_prime, find_ticket, capital, echo, pick):
    server.tool()(function)


@server.tool()
def withdraw(amount: float) -> str:
    """Withdraw money. The amount must be positive and not more than 500."""
    if not 0 < amount <= 500:
        raise ToolError(f"amount must be positive and not more than 500, not {amount}")
    return f"here are {amount:.2f}"


if __name__ == "__main__":
    server.run("stdio")
