"""Draws capability curves, and the published results for comparison, as an SVG figure."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len, set_cell_size

from misstep.core.results.capability import Capability, Fit, Half, Point
from misstep.core.stats import logistic
from misstep.features.capability import view
from misstep.rendering.html.assets import style_of_figures
from misstep.rendering.html.markup import Markup, element, text
from misstep.rendering.text import plain
from misstep.rendering.words import IN_FULL, agent_name

WIDTH = 560
HEIGHT = 270  # of the plot
LEFT, RIGHT = 62, 548  # its edges
STRIP, GAP = 11, 14  # for the 50 % point of one agent, and the gap above the first
ENTRY, LINE = 42, 18  # of the legend: large enough to read on a phone
SAMPLE = LEFT - 46, LEFT - 8  # where the legend shows a sample of a line
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


class PlotFrame(msgspec.Struct, frozen=True):
    """The layout of a figure.

    The plot covers the numbers of actions from `low` to `high` and starts at `top`; below it is a strip for
    the 50 % points of its `agents`.
    """

    low: int
    high: int
    agents: int
    halves: int
    top: float

    @property
    def step(self) -> float:
        """The distance from one number of actions to the next."""
        return (RIGHT - LEFT) / (self.high - self.low + 1)

    @property
    def floor(self) -> float:
        """The bottom of the plot."""
        return self.top + HEIGHT

    @property
    def bottom(self) -> float:
        """The bottom of the strip."""
        return self.floor + (GAP + self.halves * STRIP + 4 if self.halves else 0)

    @property
    def mark(self) -> float:
        """Half the width of a mark."""
        return max(2.6, min(4.5, 0.9 * self.step / self.agents))

    def x(self, actions: float) -> float:
        return max(LEFT, min(RIGHT, LEFT + self.step * (actions - self.low + 0.5)))

    def x_of(self, actions: float, agent: int) -> float:
        """The same, shifted a little for each agent, so that none hides another."""
        apart = min(7.0, 0.75 * self.step / self.agents)
        return self.x(actions) + apart * (agent - (self.agents - 1) / 2)

    def y(self, share: float) -> float:
        return self.floor - HEIGHT * share


def across(y: float, name: str, left: float = LEFT, right: float = RIGHT) -> Markup:
    return element("line", x1=left, x2=right, y1=y, y2=y, class_=name)


def upright(x: float, top: float, bottom: float, name: str) -> Markup:
    return element("line", x1=x, x2=x, y1=top, y2=bottom, class_=name)


def label(content: Markup | str, x: float, y: float, name: str = "", anchor: str = "") -> Markup:
    """A text; `y` is its vertical centre."""
    return element("text", content, x=x, y=y + 5, class_=name, text_anchor=anchor)


def fitting(content: str, columns: int) -> Markup:
    """A text, shortened in the middle if it is too wide: names differ at their ends."""
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
    """A line in the dash pattern of an agent."""
    return path(points, "curve", _DASHES[agent % COLOURS])


def mark(x: float, y: float, agent: int, size: float) -> Markup:
    """A point in the shape of an agent; shapes still differ when colours repeat."""
    shape = _SHAPES[(agent + agent // COLOURS) % len(_SHAPES)]
    if not shape:
        return element("circle", cx=x, cy=y, r=size, class_="mark")
    corners = " ".join(f"{x + size * right:.1f},{y + size * down:.1f}" for right, down in shape)
    return element("polygon", points=corners, class_="mark")


def coloured(agent: int, *parts: Markup) -> Markup:
    return element("g", *parts, class_=f"a{agent % COLOURS}")


END = 5  # half the height of a level's ends
ARROW = 14  # length
ABOVE, BELOW, BESIDE = 13, 17, 8  # where names are: from the level, from the threshold, from the arrow


def levels_drawn(levels: Sequence[view.Level], frame: PlotFrame) -> Iterator[Markup]:
    """For each model a rate over several numbers of actions, and an arrow down from the threshold.

    No curve has been published in numbers, so none is drawn.
    """
    for level in levels:
        y, (left, right) = frame.y(level.best.success), (frame.x(size) for size in level.actions)
        ends = [upright(x, y - END, y + END, "level") for x in (left, right)]
        x, top = frame.x(level.limit), frame.y(level.threshold)
        tip = top + ARROW
        head = path([(x - 4, tip - 5), (x, tip), (x + 4, tip - 5)], "level")
        arrow = upright(x, top, tip, "level"), head
        yield element("g", across(y, "level", left, right), *ends, *arrow, class_="published")


def levels_named(levels: Sequence[view.Level], frame: PlotFrame) -> Iterator[Markup]:
    """The names of models next to what is drawn, between numbers of actions, where there are no rates."""
    for level in levels:
        between, above = frame.x(level.actions[0] + 0.5), frame.y(level.best.success) - ABOVE
        yield label(level.model, between, above, "note", "middle")
        before, below = frame.x(level.limit) - BESIDE, frame.y(level.threshold) + BELOW
        yield label(level.model, before, below, "note", "end")


def levels_explained(levels: Sequence[view.Level], y: float) -> Iterator[Markup]:
    """The legend: which figures these are, and that they were measured on other cases."""
    if not levels:
        return
    y += LINE / 2
    for level in levels:
        left, right = SAMPLE
        ends = [upright(x, y - END, y + END, "level") for x in SAMPLE]
        yield element("g", across(y, "level", left, right), *ends, class_="published")
        yield label(view.level_name(level), LEFT, y)
        yield label(view.level_in_words(level), LEFT, y + LINE, "dim")
        y += ENTRY
    yield label(view.OTHER_PROBLEMS, LEFT, y, "dim")


AXIS = 58  # below the plot: numbers, their label, a gap
TINY = 2.0  # a mark on a chance level
SMALL = 3.2  # one in the strip
LARGE = 4.5  # one in the legend
ZOOM = 1.25  # default scale of the picture


def capability_figure(
    curves: Sequence[Capability], title: str, styled: bool = True, levels: Sequence[view.Level] = ()
) -> str:
    """An SVG with the success rate of each agent by number of actions.

    Rates have 95 % intervals, a fitted curve if there is one and the chance level; below is the number of
    actions at which success falls to 50 %. A figure that is not `styled` uses the styles of its page.
    `levels` are published results.
    """
    sizes = {point.actions for each in curves for point in each.curve} or {2}
    sizes |= {size for level in levels for size in (*level.actions, level.limit)}
    halves = sum(each.half is not None for each in curves)
    frame = PlotFrame(min(sizes), max(sizes), max(1, len(curves)), halves, 62 if title else 34)
    end = frame.bottom + AXIS + ENTRY * len(curves)
    height = end + LINE + (ENTRY * len(levels) + 2 * LINE if levels else 0)
    parts = (
        element("title", text(title or "Success by number of actions", 300)),
        element("desc", text(view.in_words(curves, levels), 20_000)),
        *([Markup(f"<style>{style_of_figures()}</style>")] if styled else []),
        element("rect", class_="paper", width=WIDTH, height=height),
        *([label(fitting(title, 56), LEFT, 19, "heading")] if title else []),
        *_axes(frame),
        *(across(frame.y(threshold), "threshold") for threshold in _thresholds(curves)),
        *_chances(curves, frame),
        *levels_drawn(levels, frame),
        *(_series(each, agent, frame) for agent, each in enumerate(curves)),
        *_halves(curves, frame),
        *levels_named(levels, frame),
        *_legend(curves, frame.bottom + AXIS),
        *levels_explained(levels, end + LINE),
    )
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:g}",
        width=WIDTH * ZOOM,
        height=height * ZOOM,
        class_="figure",
        role="img",
    ).source


def _axes(frame: PlotFrame) -> Iterator[Markup]:
    yield label("success", LEFT, frame.top - 17, "dim")
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield across(frame.y(share), "grid" if share else "axis")
        yield label(view.whole_percent(share), LEFT - 8, frame.y(share), anchor="end")
    every = 1 if frame.high - frame.low < 12 else 2
    for actions in range(frame.low, frame.high + 1, every):
        x = frame.x(actions)
        yield upright(x, frame.bottom, frame.bottom + 4, "axis")
        yield label(str(actions), x, frame.bottom + 15, anchor="middle")
    yield label("actions", RIGHT, frame.bottom + 35, "dim", "end")


def _thresholds(curves: Sequence[Capability]) -> list[float]:
    return sorted({each.threshold for each in curves})


def _chances(curves: Sequence[Capability], frame: PlotFrame) -> Iterator[Markup]:
    """One line if all agents had the same cases, otherwise one for each in its own colour."""
    levels = [
        {point.actions: point.chance for point in each.curve if point.chance is not None} for each in curves
    ]
    shared = {size: level for own in levels for size, level in own.items()}
    if all(abs(level - shared[size]) < 0.005 for own in levels for size, level in own.items()):
        yield _chance(shared, frame)
        return
    for agent, own in enumerate(levels):
        marks = [mark(frame.x(size), frame.y(own[size]), agent, TINY) for size in own]
        yield coloured(agent, element("g", _chance(own, frame), *marks, class_="own"))


def _chance(levels: dict[int, float], frame: PlotFrame) -> Markup:
    """A dotted line; a short one if there is only one point."""
    points = [(frame.x(size), frame.y(level)) for size, level in sorted(levels.items())]
    if len(points) == 1:
        ((x, y),) = points
        points = [(x - 20, y), (x + 20, y)]
    return path(points, "chance")


def _series(capability: Capability, agent: int, frame: PlotFrame) -> Markup:
    rates = [(point, point.success) for point in capability.curve if point.success is not None]
    places = [(frame.x_of(point.actions, agent), frame.y(rate)) for point, rate in rates]
    bars = [
        upright(x, frame.y(point.interval[1]), frame.y(point.interval[0]), "bar")
        for (x, _), (point, _) in zip(places, rates, strict=True)
    ]
    way = _way(capability.fit, [point for point, _ in rates], frame) or places
    return coloured(agent, curve(way, agent), *bars, *(mark(x, y, agent, frame.mark) for x, y in places))


def _way(fit: Fit | None, points: Sequence[Point], frame: PlotFrame) -> list[tuple[float, float]]:
    if not fit or not points:
        return []
    first, last = points[0].actions, points[-1].actions
    along = [first + step / 8 for step in range(8 * (last - first) + 1)]
    return [(frame.x(actions), frame.y(logistic(actions, fit.half.at, fit.spread))) for actions in along]


def _halves(curves: Sequence[Capability], frame: PlotFrame) -> Iterator[Markup]:
    """Below the plot, on the same axis: where the success of each agent falls to 50 %."""
    halves = [(agent, each.half) for agent, each in enumerate(curves) if each.half]
    if not halves:
        return
    yield label("50 %", LEFT - 8, (frame.floor + GAP + frame.bottom) / 2 - 2, "dim", "end")
    yield across(frame.bottom, "axis")
    for row, (agent, half) in enumerate(halves):
        y = frame.floor + GAP + STRIP * (row + 0.5)
        yield coloured(agent, *_half(half, y, frame), mark(frame.x(half.at), y, agent, SMALL))


def _half(half: Half, y: float, frame: PlotFrame) -> Iterator[Markup]:
    """The line down from the curve, and the interval; an open end extends to the edge."""
    low, high = half.interval
    left, right = LEFT if low is None else frame.x(low), RIGHT if high is None else frame.x(high)
    yield upright(frame.x(half.at), frame.y(0.5), y, "drop")
    yield across(y, "bar", left, right)
    for end, x in ((low, left), (high, right)):
        if end is not None:
            yield upright(x, y - 3, y + 3, "bar")


def _legend(curves: Sequence[Capability], y: float) -> Iterator[Markup]:
    for agent, each in enumerate(curves):
        line = curve([(x, y) for x in SAMPLE], agent)
        yield coloured(agent, line, mark(sum(SAMPLE) / 2, y, agent, LARGE))
        name = agent_name(each, IN_FULL)
        yield element("g", element("title", text(name)), label(fitting(name, 46), LEFT, y))
        yield label(view.how_far(each), LEFT, y + LINE, "dim")
        y += ENTRY
    yield path([(x, y) for x in SAMPLE], "chance")
    yield label("chance level", LEFT, y, "dim")
    yield across(y, "threshold", LEFT + 190, LEFT + 228)
    thresholds = ", ".join(map(view.whole_percent, _thresholds(curves)))
    yield label(f"threshold {thresholds}", LEFT + 236, y, "dim")
