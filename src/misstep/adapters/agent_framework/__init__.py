"""Adapters for Microsoft's Agent Framework: agents and tools."""
