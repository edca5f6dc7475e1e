"""`misstep tool crosstalk`: tools that an agent calls for unrelated requests."""
