"""Plans as combinatorics: which are correct, how many there are, which is nearest."""
