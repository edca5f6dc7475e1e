"""Finds out why an agent failed on a case by running variants of it."""
