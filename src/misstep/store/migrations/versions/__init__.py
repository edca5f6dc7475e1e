"""One revision each; once released, a revision is never changed."""
