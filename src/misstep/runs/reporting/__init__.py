"""A run, stored or not, in the forms that reports and other programs need."""
