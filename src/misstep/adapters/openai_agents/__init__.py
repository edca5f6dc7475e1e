"""Adapters for the OpenAI Agents SDK: agents and tools."""
