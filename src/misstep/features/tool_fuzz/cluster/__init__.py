"""Fuzzes on a cluster."""
