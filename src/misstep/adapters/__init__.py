"""Agents of every kind: our own on any model, other people's frameworks, black boxes."""
