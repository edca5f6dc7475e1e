"""The drawing board of a figure: where things are on it, the strokes that there are."""

from collections.abc import Sequence

import msgspec
from rich.cells import cell_len, set_cell_size

from misstep.report.text import plain
from misstep.report.web.markup import Markup, element, text

WIDTH = 560
HEIGHT = 270  # of the plot
LEFT, RIGHT = 62, 548  # its edges
STRIP, GAP = 11, 14  # for the 50 % point of one agent, and above the first
ENTRY, LINE = 42, 18  # of the legend: room for letters as large as those on a phone
SAMPLE = LEFT - 46, LEFT - 8  # where a line is shown in it
COLOURS = 6
_DASHES = ("", "9 4", "3 3", "13 4 3 4", "6 2 2 2", "18 5")
_CROSS = tuple(
    (1.3 * x, 1.3 * y)
    for x, y in (
        *((-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35)),
        *((0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)),
    )
)
_SHAPES: tuple[Sequence[tuple[float, float]], ...] = (
    (),  # a circle
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    ((0, 1.2), (1.15, -0.85), (-1.15, -0.85)),
    _CROSS,
)


class Frame(msgspec.Struct, frozen=True):
    """Where things are. The plot is for numbers of actions from `low` to `high` and begins at `top`; below it
    is a strip for the 50 % points of so many of its `agents`."""

    low: int
    high: int
    agents: int
    halves: int
    top: float

    @property
    def step(self) -> float:
        """From one number of actions to the next."""
        return (RIGHT - LEFT) / (self.high - self.low + 1)

    @property
    def floor(self) -> float:
        """Where the plot ends."""
        return self.top + HEIGHT

    @property
    def bottom(self) -> float:
        """Where the strip ends."""
        return self.floor + (GAP + self.halves * STRIP + 4 if self.halves else 0)

    @property
    def mark(self) -> float:
        """Half the width of a mark."""
        return max(2.6, min(4.5, 0.9 * self.step / self.agents))

    def x(self, actions: float) -> float:
        return max(LEFT, min(RIGHT, LEFT + self.step * (actions - self.low + 0.5)))

    def x_of(self, actions: float, agent: int) -> float:
        """The same, a little beside it for each agent, so that none hides another."""
        apart = min(7.0, 0.75 * self.step / self.agents)
        return self.x(actions) + apart * (agent - (self.agents - 1) / 2)

    def y(self, share: float) -> float:
        return self.floor - HEIGHT * share


def across(y: float, name: str, left: float = LEFT, right: float = RIGHT) -> Markup:
    return element("line", x1=left, x2=right, y1=y, y2=y, class_=name)


def upright(x: float, top: float, bottom: float, name: str) -> Markup:
    return element("line", x1=x, x2=x, y1=top, y2=bottom, class_=name)


def label(content: Markup | str, x: float, y: float, name: str = "", anchor: str = "") -> Markup:
    """A text; `y` is where its middle is."""
    return element("text", content, x=x, y=y + 5, class_=name, text_anchor=anchor)


def fitting(content: str, columns: int) -> Markup:
    """A text without its middle where it would be too wide: names differ at their ends."""
    shown = plain(content, 300)
    if cell_len(shown) > columns:
        head, tail = (set_cell_size(end, (columns - 1) // 2) for end in (shown, shown[::-1]))
        shown = f"{head}…{tail[::-1]}"
    return text(shown)


def path(points: Sequence[tuple[float, float]], name: str, dashes: str = "") -> Markup:
    if not points:
        return Markup("")
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", points=corners, class_=name, stroke_dasharray=dashes)


def curve(points: Sequence[tuple[float, float]], agent: int) -> Markup:
    """A line with the dashes of an agent."""
    return path(points, "curve", _DASHES[agent % COLOURS])


def mark(x: float, y: float, agent: int, size: float) -> Markup:
    """A point in the shape of an agent; shapes differ where colours come round again."""
    shape = _SHAPES[(agent + agent // COLOURS) % len(_SHAPES)]
    if not shape:
        return element("circle", cx=x, cy=y, r=size, class_="mark")
    corners = " ".join(f"{x + size * right:.1f},{y + size * down:.1f}" for right, down in shape)
    return element("polygon", points=corners, class_="mark")


def coloured(agent: int, *parts: Markup) -> Markup:
    return element("g", *parts, class_=f"a{agent % COLOURS}")
