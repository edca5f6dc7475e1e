"""Tests of better words for tools."""
