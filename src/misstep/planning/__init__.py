"""Planning tests: requests with a formal meaning, and the judge. No model calls; reads only its own data."""
