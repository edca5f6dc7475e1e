"""Agents of smolagents, which call tools or write code that does, as agents under test."""

from misstep.adapters.smolagents.agent import SmolAgent, agent, retool

__all__ = ["SmolAgent", "agent", "retool"]
