"""Judges a tool's reaction: a defect, a refusal, an environment problem, or nothing notable."""
