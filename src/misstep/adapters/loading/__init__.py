"""Loads agents from the user's code: finds, recognises and wraps them."""
