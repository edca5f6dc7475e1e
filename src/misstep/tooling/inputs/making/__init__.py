"""Makes values for a schema with Hypothesis; nothing else here needs that."""
