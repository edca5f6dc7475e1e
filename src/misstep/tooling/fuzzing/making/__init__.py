"""Makes arguments and sequences of calls out of what is known."""
