"""Serves pages to a browser."""
