"""Composio: its tools."""
