"""The git repository behind the forge."""
