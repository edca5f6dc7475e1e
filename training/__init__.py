"""Trains the adapter of the embedded model: see README.md."""
