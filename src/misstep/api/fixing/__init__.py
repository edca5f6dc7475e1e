"""Better words for tools: searched for, scored, put in place."""
