"""GitHub's REST interface, as much of it as clients need."""
