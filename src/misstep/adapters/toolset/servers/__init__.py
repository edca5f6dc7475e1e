"""Conversations with MCP servers, whose tools are read and called there."""
