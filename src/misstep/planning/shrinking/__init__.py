"""Reduces failing problems to smaller ones that still fail."""
