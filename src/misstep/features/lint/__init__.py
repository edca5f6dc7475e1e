"""`misstep tool lint` and `tool list`: what the documentation of tools says, and where the tool disagrees."""
