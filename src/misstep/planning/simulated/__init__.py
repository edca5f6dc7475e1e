"""Simulated agents with known faults."""
