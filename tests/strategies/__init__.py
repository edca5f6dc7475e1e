"""Problems as a strategy of Hypothesis."""
