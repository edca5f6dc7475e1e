"""What a user can ask for: one package for each, with its command, its run and its view."""
