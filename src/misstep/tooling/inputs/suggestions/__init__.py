"""Values that a tool's surroundings suggest: its names, its description, its source."""
