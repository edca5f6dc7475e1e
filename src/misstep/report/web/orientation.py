"""What others have published, in a figure of capability curves."""

from collections.abc import Iterator, Sequence

from misstep.report.curve import OTHER_PROBLEMS, level_in_words, level_name
from misstep.report.published import Level
from misstep.report.web.board import ENTRY, LEFT, LINE, SAMPLE, Frame, across, label, path, upright
from misstep.report.web.markup import Markup, element

END = 5  # half the height of a level's ends
ARROW = 14  # length
ABOVE, BELOW, BESIDE = 13, 17, 8  # where names are: from the level, from the threshold, from the arrow


def levels_drawn(levels: Sequence[Level], frame: Frame) -> Iterator[Markup]:
    """Of each model one rate over several numbers of actions, and an arrow down from the threshold.

    Nobody has published a curve in numbers, so that none is drawn.
    """
    for level in levels:
        y, (left, right) = frame.y(level.best.success), (frame.x(size) for size in level.actions)
        ends = [upright(x, y - END, y + END, "level") for x in (left, right)]
        yield element("g", across(y, "level", left, right), *ends, *_arrow(level, frame), class_="published")


def _arrow(level: Level, frame: Frame) -> Iterator[Markup]:
    x, y = frame.x(level.limit), frame.y(level.threshold)
    yield upright(x, y, y + ARROW, "level")
    yield path([(x - 4, y + ARROW - 5), (x, y + ARROW), (x + 4, y + ARROW - 5)], "level")


def levels_named(levels: Sequence[Level], frame: Frame) -> Iterator[Markup]:
    """The names of models beside what is drawn, between numbers of actions, where there are no rates."""
    for level in levels:
        between, above = frame.x(level.actions[0] + 0.5), frame.y(level.best.success) - ABOVE
        yield label(level.model, between, above, "note", "middle")
        before, below = frame.x(level.limit) - BESIDE, frame.y(level.threshold) + BELOW
        yield label(level.model, before, below, "note", "end")


def room_for(levels: Sequence[Level]) -> float:
    """The height of their part of the legend."""
    return ENTRY * len(levels) + 2 * LINE if levels else 0


def levels_explained(levels: Sequence[Level], y: float) -> Iterator[Markup]:
    """The legend: which figures these are, and that they are about something else."""
    if not levels:
        return
    y += LINE / 2
    for level in levels:
        left, right = SAMPLE
        ends = [upright(x, y - END, y + END, "level") for x in SAMPLE]
        yield element("g", across(y, "level", left, right), *ends, class_="published")
        yield label(level_name(level), LEFT, y)
        yield label(level_in_words(level), LEFT, y + LINE, "dim")
        y += ENTRY
    yield label(OTHER_PROBLEMS, LEFT, y, "dim")
