"""`misstep serve`: the runs of a store in a browser."""
