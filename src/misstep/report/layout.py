"""How things stand on a terminal."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def bare_table(headed: bool = True) -> Table:
    """A table without lines, two columns of space between its own."""
    return Table(box=None, show_header=headed, pad_edge=False, padding=(0, 2, 0, 0))


def section(title: str, body: RenderableType) -> RenderableType:
    """A title with what belongs to it below."""
    return Group(Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2)))
