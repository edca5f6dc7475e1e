"""A forge on loopback, with tasks for agents that work on GitHub."""
