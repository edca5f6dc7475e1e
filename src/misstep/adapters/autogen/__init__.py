"""Adapters for AutoGen AgentChat: agents, teams and tools."""
