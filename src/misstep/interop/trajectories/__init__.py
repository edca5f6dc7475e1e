"""What other tools have written down about agents, read as transcripts."""
