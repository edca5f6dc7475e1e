"""The wall for cases from outside, and what is looked at there."""
