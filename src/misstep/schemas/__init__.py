"""JSON schemas of tools: whether values fit them, and some that do."""
