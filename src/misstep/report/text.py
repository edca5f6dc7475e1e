"""Text from outside, made safe to show."""

import re

# Control characters would drive the terminal, direction marks would turn the text round.
_UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str, most: int = 10_000) -> str:
    """The text with everything that could move the cursor or the reading direction spelt out."""
    short = text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", short)
