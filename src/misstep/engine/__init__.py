"""Runs campaigns: drives agents through cases within time limits and a budget."""
