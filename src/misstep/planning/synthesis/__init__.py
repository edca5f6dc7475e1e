"""From a seed to a whole case."""
