"""Where the documentation of tools and what they do part ways: rules, each with its evidence."""
