"""What processes print, in a form that can be shown."""

import re

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def readable(text: str) -> str:
    """The text without what would move a terminal's cursor."""
    return "".join(letter for letter in _COLOURS.sub("", text) if letter.isprintable() or letter == "\n")
