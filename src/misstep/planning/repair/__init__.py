"""Requests in the wild: what they demand of tools, as models have read it."""
