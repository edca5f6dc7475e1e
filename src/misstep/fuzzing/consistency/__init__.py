"""Tests whether a tool gives right answers, by requests that mean the same."""
