"""Generates arguments for tools: valid ones, boundary values, and deliberately invalid ones."""
