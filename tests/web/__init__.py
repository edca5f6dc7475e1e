"""Pages in a browser, asked for as a browser does."""
