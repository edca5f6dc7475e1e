"""`misstep tool fuzz`: inputs that crash or hang tools, and whether an agent can reach them."""
