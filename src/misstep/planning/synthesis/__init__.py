"""Generates a whole case from a seed."""
