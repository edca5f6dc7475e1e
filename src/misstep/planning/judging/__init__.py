"""Judging what an agent did: the reference, the fast path, its slow twin, and the reasons."""
