"""Judges what an agent did: a fast checker, a slow one with Z3 for verification, and explanations."""
