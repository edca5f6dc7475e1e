"""Adapters for Pydantic AI: agents and tools."""
