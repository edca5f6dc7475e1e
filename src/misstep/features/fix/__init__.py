"""`misstep tool fix`: tool descriptions that do better on held-out requests."""
