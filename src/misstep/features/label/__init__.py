"""`misstep label`: people label the findings of a run without seeing its verdicts."""
