"""Free-form requests: the constraints on tools that models extract from them, and plans for these."""
