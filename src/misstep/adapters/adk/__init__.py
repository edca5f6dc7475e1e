"""Adapters for Google's Agent Development Kit: agents and tools."""
