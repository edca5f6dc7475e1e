"""What a browser shows, as data."""
