"""Adapter for Composio's tools."""
