"""`misstep plan capability`: how success falls as the number of actions grows."""
