"""Inspect: its logs written, our cases judged inside it."""
