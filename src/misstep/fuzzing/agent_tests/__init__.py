"""Tests of tools through the agent that uses them."""
