"""misstep finds the step where an LLM agent goes wrong."""
