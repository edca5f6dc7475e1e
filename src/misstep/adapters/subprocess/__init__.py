"""Runs agents in separate processes, under any interpreter, which can be ended whatever they do."""
