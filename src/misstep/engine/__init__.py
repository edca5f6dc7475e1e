"""Runs any campaign."""
