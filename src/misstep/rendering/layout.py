"""Layout of text and tables on a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from misstep.rendering.text import plain


def bare_table(headed: bool = True) -> Table:
    """A table without lines, two spaces between columns."""
    return Table(box=None, show_header=headed, pad_edge=False, padding=(0, 2, 0, 0))


def numbers_table(first: str, headings: Iterable[str], min_width: int = 12) -> Table:
    """A table with a column of names, and a column of numbers for each heading."""
    table = bare_table()
    table.add_column(first, overflow="fold", min_width=min_width)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def hanging(mark: str, text: str) -> RenderableType:
    """A text next to its mark, with its other lines indented."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(mark, style="dim"), Text(text))
    return table


def indented(text: str, style: str = "", by: int = 2) -> RenderableType:
    """A text with every line indented, also those that begin where it is wrapped."""
    return Padding(Text(text, style=style), (0, 0, 0, by))


class Trimmed:
    """The same without trailing spaces, for copying and for pipes."""

    def __init__(self, body: RenderableType) -> None:
        self._body = body

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._body, options, pad=False):
            while line and not line[-1].text.strip(" "):
                line.pop()
            if line:
                last = line.pop()
                line.append(Segment(last.text.rstrip(" "), last.style, last.control))
            yield from (*line, Segment.line())


class Parts:
    """Texts in a row, with a separator between them, wrapped only there."""

    def __init__(self, parts: Sequence[Text], separator: str) -> None:
        self._parts, self._separator = parts, separator

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for number, part in enumerate(self._parts, 1):
            whole = part if number == len(self._parts) else Text.assemble(part, self._separator)
            if line and line.cell_len + whole.cell_len > options.max_width:
                yield line
                line = Text()
            line = Text.assemble(line, whole)
        yield line


def section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2)))


def beneath(tools: Sequence[tuple[str, str, Sequence[str]]]) -> list[Text]:
    """Notes below a table of tools, given as names, sandboxes in words, and remarks."""
    words = sorted({sandbox for _, sandbox, _ in tools if sandbox})
    lines = [f"\nsandbox: {'; '.join(map(plain, words))}"] if words else []
    lines += [plain(f"{name}: {'; '.join(said)}", 1_000) for name, _, said in tools if said]
    return [Text(line, style="dim") for line in lines]
