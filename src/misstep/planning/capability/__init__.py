"""How far an agent gets: what to ask to find out, and the curve through what came of it."""
