"""Benchmarks: tasks whose right end is known, put to an agent."""
