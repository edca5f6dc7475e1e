"""What the reader is made of; nothing in here knows the code that writes."""
