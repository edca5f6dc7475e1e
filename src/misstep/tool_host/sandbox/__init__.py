"""The sandbox that keeps tools from doing harm."""
