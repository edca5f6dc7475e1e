"""Tools that other people wrote, made ready to be called in an empty folder."""
