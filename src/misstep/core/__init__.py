"""Values and protocols that every package shares; core imports no other package except `errors`."""
