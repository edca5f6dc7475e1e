"""Plans as combinatorics: which are right, how many there are, which is nearest."""
