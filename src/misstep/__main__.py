"""`python -m misstep`."""

from misstep.cli import main

main()
