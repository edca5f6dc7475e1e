"""`misstep plan dissect`: why an agent failed."""
