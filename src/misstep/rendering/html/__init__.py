"""What a browser shows, piece by piece."""
