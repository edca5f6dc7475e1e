"""Takes cases apart, changes them in one respect, and reassembles them."""
