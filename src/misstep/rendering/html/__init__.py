"""Builds the HTML pages of runs."""
