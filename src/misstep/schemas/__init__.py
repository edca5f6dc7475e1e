"""JSON schemas of tools: validation, finding violated keywords, and example values."""
