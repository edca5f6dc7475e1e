"""Better words for a tool: written by models, tried on an agent, put in place."""
