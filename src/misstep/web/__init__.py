"""Pages that people use in a browser, served on loopback."""
