"""Lint rules: where a tool's documentation and its behaviour differ, with evidence for each."""
