"""Measures misstep against its targets; run `python -m benchmarks` from the repository root."""
