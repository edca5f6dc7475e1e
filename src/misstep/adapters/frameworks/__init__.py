"""Other people's agents: one file per framework, imported only when an object of it turns up."""
