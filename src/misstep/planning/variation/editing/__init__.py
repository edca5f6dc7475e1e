"""Edits the sentences of a case that has been taken apart."""
