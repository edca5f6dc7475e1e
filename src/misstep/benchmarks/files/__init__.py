"""Tasks on files, made by construction: a tree, operations on it, words for them."""
