"""The recording proxy: shows what a model asked for if a framework hides it."""
