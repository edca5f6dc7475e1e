"""Values for the arguments of tools: ones that fit, ones at an edge, ones that are wrong on purpose."""
