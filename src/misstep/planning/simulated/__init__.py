"""Agents whose every fault is known."""
