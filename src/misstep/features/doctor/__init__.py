"""`misstep doctor`: whether misstep and what it needs work here."""
