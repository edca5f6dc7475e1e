"""Makes agents, models and tools from settings."""
