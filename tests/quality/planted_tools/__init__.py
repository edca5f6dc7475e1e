"""Tools whose defects are known, written as people write tools; nothing here knows who tests them."""
