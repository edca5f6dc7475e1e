"""The file benchmark of the ToolFuzz paper, from a folder that the user has."""
