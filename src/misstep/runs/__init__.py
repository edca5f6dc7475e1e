"""What all runs share: starting, resuming, budgets, looking up, comparing and reporting."""
