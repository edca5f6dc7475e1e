"""What keeps tools from doing harm, and what is refused where nothing does."""
