"""Plain Python functions as agents and as tools."""
