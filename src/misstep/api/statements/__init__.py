"""Runs of every kind in the terms of any test report."""
