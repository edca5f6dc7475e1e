"""Tools whose documentation is at fault, each beside the same tool with documentation that is not."""
