"""`misstep mcp serve`: the mock tools of one case for any MCP client."""
