"""Tests tools through the agent that uses them."""
