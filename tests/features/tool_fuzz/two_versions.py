"""A server and a tool with a defect, and the same without it."""

SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk", version="1.4.2")


@server.tool()
def remind(minutes: int) -> str:
    """Set a reminder for so many minutes from now."""
    return f"every hour has {60 // minutes} of these"


def main() -> None:
    server.run()


if __name__ == "__main__":
    main()
'''
FIXED = SERVER.replace("60 // minutes", "60 // max(1, abs(minutes))")
RENAMED = SERVER.replace("minutes", "duration")
CODE = '''
def lookup(index: int) -> str:
    """Look up an entry by its index."""
    return ["a", "b"][index]
'''
