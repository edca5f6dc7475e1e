"""CrewAI: its agents and crews, and its tools."""
