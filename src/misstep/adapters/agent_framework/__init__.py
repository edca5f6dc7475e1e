"""Microsoft's Agent Framework: its agents, and its tools."""
