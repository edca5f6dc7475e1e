"""What the words of a tool tell of an error."""
