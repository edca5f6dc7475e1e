"""Branches, commits and files."""
