"""Findings: collected, counted, confirmed from a fresh start, minimised."""
