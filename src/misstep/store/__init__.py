"""Storage of runs in a database, and of cases and results in files."""
