"""A small language model that runs inside the process: no key, no network."""
