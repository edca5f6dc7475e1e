"""The verbs: what misstep can do, apart from how it is shown."""
