"""Makes text from outside safe to show."""

import re

from misstep.core.text import cut

# Control characters would control the terminal, direction marks reverse text, separators break the line.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def plain(text: str, most: int = 2_000) -> str:
    """The text on one line, with characters escaped that could move the cursor or change direction."""
    return _spelt_out(cut(text, most))


def plain_lines(text: str, most: int = 20_000) -> str:
    """The same for a text that keeps its line breaks."""
    return "\n".join(map(_spelt_out, cut(text, most).split("\n")))


def few_lines(text: str, most: int, lines: int) -> str:
    """The same for the first lines, with a note in place of the others."""
    rows = text.split("\n")
    kept, more = plain_lines("\n".join(rows[:lines]), most), len(rows) - lines
    return kept if more <= 0 else f"{kept}\n… ({more:,} more line{'s' if more > 1 else ''})"


def _spelt_out(line: str) -> str:
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
