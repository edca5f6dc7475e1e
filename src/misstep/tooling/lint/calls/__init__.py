"""What calls of a tool have shown."""
