"""Outcomes turned into examples to train models on."""
