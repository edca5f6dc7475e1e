"""Adapters for agents and tools of frameworks, one module each, which imports its framework when used."""
