"""What goes to standard output besides tables."""

import shlex
import sys

import msgspec
from rich.console import Console

from misstep.core.settings import Settings
from misstep.report.text import plain


def print_json(value: msgspec.Struct) -> None:
    """One JSON object and nothing else."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def to_stdout(settings: Settings) -> bool:
    return settings.out in ("", "-")


def hint(console: Console, text: str, gap: bool = True) -> None:
    """What to do next, on a line of its own."""
    console.print(("\n" if gap else "") + text, style="dim", highlight=False, markup=False, soft_wrap=True)


def quoted(name: str) -> str:
    """A name from outside as it can be typed into a shell."""
    return shlex.quote(plain(name))
