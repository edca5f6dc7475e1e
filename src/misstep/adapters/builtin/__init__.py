"""Our own agents on any model: ReAct in plain text, function calling, server-side conversations."""
