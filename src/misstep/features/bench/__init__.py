"""`misstep bench`: tasks on files and repositories with a known end state."""
