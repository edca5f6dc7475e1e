"""AG2: its agents, and its tools."""
