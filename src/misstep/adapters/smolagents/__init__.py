"""Adapters for smolagents: agents that call tools or write code, and tools."""

from misstep.adapters.smolagents.agent import SmolAgent, agent, retool

__all__ = ["SmolAgent", "agent", "retool"]
