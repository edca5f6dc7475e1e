"""What tools of the user's own take."""
