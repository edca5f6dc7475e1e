"""The fuzzer of a tool or toolkit: proposes calls and learns from the reactions."""
