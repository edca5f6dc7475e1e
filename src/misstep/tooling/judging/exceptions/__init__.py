"""Exceptions that left a tool in a process whose code can be seen."""
