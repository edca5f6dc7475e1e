"""Agents of our own on any model: text with tool syntax, function calling, server-side conversations."""
