"""Adapters for LlamaIndex: agents and tools."""
