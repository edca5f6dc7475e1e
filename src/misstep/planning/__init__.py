"""Planning tests: the language, its meaning, its oracle. Pure: no model calls, no I/O but our own data."""
