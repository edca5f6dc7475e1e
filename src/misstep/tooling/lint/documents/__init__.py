"""What schema and description say, held against each other and against the signature."""
