"""What the mock tools of a case do, and what they answer."""
