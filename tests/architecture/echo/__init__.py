"""A kind of run that misstep does not have: all that has to be written for one."""
