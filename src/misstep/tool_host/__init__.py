"""Where tools are tried: a process of its own, within a sandbox."""
