"""`misstep init`: settings, a first test and a CI workflow for the project in a folder."""
