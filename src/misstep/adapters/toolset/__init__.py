"""The user's own tools, wherever they come from: described, and called only on request."""
