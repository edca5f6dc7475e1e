"""Shows results on the terminal, as HTML and as Markdown."""
