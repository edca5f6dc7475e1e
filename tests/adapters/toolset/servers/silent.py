"""A program that takes whatever it is told, and says nothing."""

import sys

for _line in sys.stdin:
    pass
