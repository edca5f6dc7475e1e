"""Measures misstep against its marks; `python -m benchmarks` from the repository root."""
