"""Reads what other tools have recorded about agents, as transcripts."""
