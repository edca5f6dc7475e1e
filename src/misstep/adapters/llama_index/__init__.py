"""LlamaIndex: its agents, and its tools."""
