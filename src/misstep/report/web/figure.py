"""Capability curves as a picture."""

from collections.abc import Iterator, Sequence
from importlib.resources import files

from misstep.core.capability import Capability, Fit, Half, Point
from misstep.core.statistics import logistic
from misstep.report.curve import how_far, in_words, whole_percent
from misstep.report.naming import IN_FULL, agent_name
from misstep.report.published import Level
from misstep.report.web import orientation
from misstep.report.web.board import (
    ENTRY,
    GAP,
    LEFT,
    LINE,
    RIGHT,
    SAMPLE,
    STRIP,
    WIDTH,
    Frame,
    across,
    coloured,
    curve,
    fitting,
    label,
    mark,
    path,
    upright,
)
from misstep.report.web.markup import Markup, element, text

AXIS = 58  # below the plot: numbers, their name, a gap
TINY = 2.0  # a mark on a chance level
SMALL = 3.2  # one in the strip
LARGE = 4.5  # one in the legend
ZOOM = 1.25  # the size of the picture where nobody else says


def capability_figure(
    curves: Sequence[Capability], title: str, styled: bool = True, levels: Sequence[Level] = ()
) -> str:
    """An SVG with the success of each agent as the number of actions grows.

    Rates have their 95 % intervals, a fitted curve where there is one, the chance level beside them, and
    below them the number of actions at which success passes 50 %. One that is not `styled` stands in a page
    that has its styles. `levels` are what others have published.
    """
    frame = _frame(curves, title, levels)
    end = frame.bottom + AXIS + ENTRY * len(curves)
    height = end + LINE + orientation.room_for(levels)
    parts = (
        element("title", text(title or "Success by number of actions", 300)),
        element("desc", text(in_words(curves, levels), 20_000)),
        *([Markup(f"<style>{_style()}</style>")] if styled else []),
        element("rect", class_="paper", width=WIDTH, height=height),
        *([label(fitting(title, 56), LEFT, 19, "heading")] if title else []),
        *_axes(frame),
        *(across(frame.y(threshold), "threshold") for threshold in _thresholds(curves)),
        *_chances(curves, frame),
        *orientation.levels_drawn(levels, frame),
        *(_series(each, agent, frame) for agent, each in enumerate(curves)),
        *_halves(curves, frame),
        *orientation.levels_named(levels, frame),
        *_legend(curves, frame.bottom + AXIS),
        *orientation.levels_explained(levels, end + LINE),
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


def _style() -> str:
    return (files("misstep.report") / "data" / "figure.css").read_text("utf-8")


def _frame(curves: Sequence[Capability], title: str, levels: Sequence[Level]) -> Frame:
    sizes = {point.actions for each in curves for point in each.curve} or {2}
    sizes |= {size for level in levels for size in (*level.actions, level.limit)}
    halves = sum(each.half is not None for each in curves)
    return Frame(min(sizes), max(sizes), max(1, len(curves)), halves, 62 if title else 34)


def _axes(frame: Frame) -> Iterator[Markup]:
    yield label("success", LEFT, frame.top - 17, "dim")
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield across(frame.y(share), "grid" if share else "axis")
        yield label(whole_percent(share), LEFT - 8, frame.y(share), anchor="end")
    every = 1 if frame.high - frame.low < 12 else 2
    for actions in range(frame.low, frame.high + 1, every):
        x = frame.x(actions)
        yield upright(x, frame.bottom, frame.bottom + 4, "axis")
        yield label(str(actions), x, frame.bottom + 15, anchor="middle")
    yield label("actions", RIGHT, frame.bottom + 35, "dim", "end")


def _thresholds(curves: Sequence[Capability]) -> list[float]:
    return sorted({each.threshold for each in curves})


def _chances(curves: Sequence[Capability], frame: Frame) -> Iterator[Markup]:
    """One line where all agents had the same cases, otherwise one for each in its own colour."""
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


def _chance(levels: dict[int, float], frame: Frame) -> Markup:
    """A dotted line; a short one where there is but one point."""
    points = [(frame.x(size), frame.y(level)) for size, level in sorted(levels.items())]
    if len(points) == 1:
        ((x, y),) = points
        points = [(x - 20, y), (x + 20, y)]
    return path(points, "chance")


def _series(capability: Capability, agent: int, frame: Frame) -> Markup:
    """An agent's rates with their intervals, and the line through them."""
    rates = [(point, point.success) for point in capability.curve if point.success is not None]
    places = [(frame.x_of(point.actions, agent), frame.y(rate)) for point, rate in rates]
    bars = [_bar(point, frame.x_of(point.actions, agent), frame) for point, _ in rates]
    way = _way(capability.fit, [point for point, _ in rates], frame) or places
    return coloured(agent, curve(way, agent), *bars, *(mark(x, y, agent, frame.mark) for x, y in places))


def _bar(point: Point, x: float, frame: Frame) -> Markup:
    low, high = point.interval
    return upright(x, frame.y(high), frame.y(low), "bar")


def _way(fit: Fit | None, points: Sequence[Point], frame: Frame) -> list[tuple[float, float]]:
    """The fitted curve, as far as there are points to bear it out."""
    if not fit or not points:
        return []
    first, last = points[0].actions, points[-1].actions
    along = [first + step / 8 for step in range(8 * (last - first) + 1)]
    return [(frame.x(actions), frame.y(logistic(actions, fit.half.at, fit.spread))) for actions in along]


def _halves(curves: Sequence[Capability], frame: Frame) -> Iterator[Markup]:
    """Below the plot, on the same axis: where each agent's success passes 50 %."""
    halves = [(agent, each.half) for agent, each in enumerate(curves) if each.half]
    if not halves:
        return
    yield label("50 %", LEFT - 8, (frame.floor + GAP + frame.bottom) / 2 - 2, "dim", "end")
    yield across(frame.bottom, "axis")
    for row, (agent, half) in enumerate(halves):
        y = frame.floor + GAP + STRIP * (row + 0.5)
        yield coloured(agent, *_half(half, y, frame), mark(frame.x(half.at), y, agent, SMALL))


def _half(half: Half, y: float, frame: Frame) -> Iterator[Markup]:
    """The line down from the curve, and the interval; an end that is open runs into the edge."""
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
        yield label(how_far(each), LEFT, y + LINE, "dim")
        y += ENTRY
    yield path([(x, y) for x in SAMPLE], "chance")
    yield label("chance level", LEFT, y, "dim")
    yield across(y, "threshold", LEFT + 190, LEFT + 228)
    thresholds = ", ".join(map(whole_percent, _thresholds(curves)))
    yield label(f"threshold {thresholds}", LEFT + 236, y, "dim")
