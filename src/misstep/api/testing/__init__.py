"""Tests of agents and tools that are there as objects: in a notebook, in somebody's own tests."""
