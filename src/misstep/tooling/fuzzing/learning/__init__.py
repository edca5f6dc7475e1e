"""Keeps what calls have shown: what was new, what is worth keeping, what to stay away from."""
