"""Issues and pull requests, with what is said about them."""
