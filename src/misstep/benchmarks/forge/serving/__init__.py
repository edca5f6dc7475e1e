"""The forge on the wire."""
