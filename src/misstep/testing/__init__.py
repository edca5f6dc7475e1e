"""Tests of agents and tools that are Python objects: in a notebook, or in a test suite."""
