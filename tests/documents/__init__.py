"""Documents: what they show is what happens."""
