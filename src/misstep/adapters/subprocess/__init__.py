"""Agents in processes of their own, under any interpreter, which can be ended whatever they do."""
