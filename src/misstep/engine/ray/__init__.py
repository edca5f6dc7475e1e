"""Runs cases on a Ray cluster."""
