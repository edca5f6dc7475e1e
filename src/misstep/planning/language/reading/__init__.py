"""The parts of the reader; they don't use the code that writes."""
