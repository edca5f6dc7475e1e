"""The playground: a person solves a planning problem in a browser."""
