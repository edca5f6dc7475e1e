"""The reference: parts of it that are written by a program, out of the code."""
