"""File tasks, generated together with their expected results: a tree, operations on it, a request."""
