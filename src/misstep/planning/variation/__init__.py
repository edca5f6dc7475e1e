"""Cases taken apart, changed in one respect, put together again."""
