"""Agents out of the user's own code: found, recognised, and made ready to run."""
