"""A case taken apart, opened sentence by sentence, cut, and closed again."""
