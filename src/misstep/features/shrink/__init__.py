"""`misstep plan shrink`: the smallest request that still fails."""
