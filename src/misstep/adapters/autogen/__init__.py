"""AutoGen AgentChat: its agents and teams, and its tools."""
