"""Tests agents and tools that are Python objects, in a notebook or a test suite."""
