"""MCP: serves the tools of a case to any MCP client, and calls tools of MCP servers."""
