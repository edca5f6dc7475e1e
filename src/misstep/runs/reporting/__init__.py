"""Converts runs, stored or not, for reports and other programs."""
