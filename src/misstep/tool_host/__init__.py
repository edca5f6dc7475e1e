"""Calls tools in a separate process, within a sandbox."""
