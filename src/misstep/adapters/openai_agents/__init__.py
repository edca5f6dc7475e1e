"""The OpenAI Agents SDK: its agents, and its tools."""
