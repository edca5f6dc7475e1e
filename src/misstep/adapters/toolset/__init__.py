"""The user's own tools: their names, descriptions and schemas, but never what they do."""
