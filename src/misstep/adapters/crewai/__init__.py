"""Adapters for CrewAI: agents, crews and tools."""
