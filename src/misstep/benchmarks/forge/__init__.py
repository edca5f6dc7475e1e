"""A small GitHub server on loopback, and tasks for agents that work with it."""
