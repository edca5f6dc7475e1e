"""Improves tool descriptions: models write candidates, an agent tries them, the best goes into the source."""
