"""Adapters for AG2: agents and tools."""
