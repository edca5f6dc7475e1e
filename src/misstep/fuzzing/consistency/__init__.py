"""Tests whether a tool answers correctly, by comparing its answers to paraphrased requests."""
