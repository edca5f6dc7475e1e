"""Benchmarks: tasks whose expected end state is computed, not labelled. Nothing here asks a model."""
