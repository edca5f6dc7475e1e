"""Tool tests: inputs that break tools, and what is to be said about them. Nothing in here calls a tool."""
