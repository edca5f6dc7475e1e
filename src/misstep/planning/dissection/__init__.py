"""Why an agent failed on a case, found out by running variants of it."""
