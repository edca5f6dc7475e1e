"""Agents and tools that are there as objects."""
