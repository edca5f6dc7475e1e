"""`misstep bench`: tasks on files and repositories whose right result is known."""
