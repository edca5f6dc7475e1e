"""Pydantic AI: its agents, and its tools."""
