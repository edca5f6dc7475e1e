"""What a terminal shows of a renderable."""

from rich.console import Console, RenderableType


def shown(renderable: RenderableType, width: int = 100) -> str:
    """As plain text, no line ending in blanks."""
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))
