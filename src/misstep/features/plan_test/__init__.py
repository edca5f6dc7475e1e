"""`misstep plan test` and `plan check`: test an agent on planning problems, and check plans."""
