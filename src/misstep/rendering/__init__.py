"""Shows results on the terminal, as HTML, Markdown and JSON lines."""
