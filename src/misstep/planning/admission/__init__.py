"""Validation of cases from outside."""
