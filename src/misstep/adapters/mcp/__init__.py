"""Black boxes: the tools of a case over MCP, for any client that speaks it."""
