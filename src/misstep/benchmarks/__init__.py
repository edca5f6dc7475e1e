"""Benchmarks: tasks whose right end is computed, not labelled. Nothing here asks a model."""
