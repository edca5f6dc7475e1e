"""One package for each thing a user can ask for, with its command, its run and its view."""
