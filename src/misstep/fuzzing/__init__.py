"""Fuzzes tools: generates inputs and judges the reactions. Nothing in here calls a tool itself."""
