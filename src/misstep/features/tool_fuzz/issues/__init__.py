"""Texts of findings for bug trackers."""
