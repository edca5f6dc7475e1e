"""Google's Agent Development Kit: its agents, and its tools."""
