"""Runs as tables, a row for each case, task or finding."""
