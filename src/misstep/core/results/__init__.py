"""Results of runs: values that are stored, shown and exported."""
