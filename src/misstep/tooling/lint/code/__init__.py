"""What the source of a tool says."""
