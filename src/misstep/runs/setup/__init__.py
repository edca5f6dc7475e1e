"""From settings to agents, models and tools that are ready to use."""
