"""The user's own tools, wherever they come from: read, and called only where that is asked for."""
