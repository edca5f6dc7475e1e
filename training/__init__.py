"""How the adapter of the embedded model was trained: see README.md."""
