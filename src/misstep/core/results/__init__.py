"""What runs find: values that are stored, shown and exported."""
