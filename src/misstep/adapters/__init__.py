"""Adapters for agents and tools: our own agents on any model, agents of frameworks, and external programs."""
