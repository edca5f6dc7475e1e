"""`misstep plan repair`: a plan for a request in free text, from two readings by a model."""
