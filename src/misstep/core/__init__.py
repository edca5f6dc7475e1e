"""Nouns that cross walls: every room knows them, they know no room."""
