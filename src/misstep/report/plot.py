"""Capability curves on a terminal."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from misstep.core.capability import Capability, Fit, Point
from misstep.core.statistics import logistic
from misstep.report.curve import (
    PAPER,
    how_far,
    level_in_words,
    level_name,
    limit_in_words,
    misfit_in_words,
    whole_percent,
)
from misstep.report.layout import bare_table
from misstep.report.naming import agent_name
from misstep.report.published import Level
from misstep.report.shares import KINDS, counted_column, shares_table
from misstep.report.statistics import interval
from misstep.report.terminal import BASELINES, baseline_rates, percent

HEIGHT = 20  # rows from 0 to 100 %, five points each
WIDEST = 80  # columns of the whole plot, where the terminal has as many
SCALE = 8  # columns left of it
CELL = 8  # columns for a number of actions, where there is room
SIGNS = "●▲■◆▼★"
STYLES = ("cyan", "magenta", "green", "yellow", "blue", "red")
CHANCE, FITTED, THRESHOLD, BAR, HALF = "x", "·", "╌", "│", "+"
LEVELS = (("─", "↓"), ("═", "⇓"))  # of others: a rate, where it is lost


def capability_plot(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> RenderableType:
    """Success against the number of actions: points with intervals, the chance level, the fitted curve.

    `levels` are what others have published.
    """
    sizes = [point.actions for curve in curves for point in curve.curve]
    if not sizes:
        return Text("no case has been run", style="dim")
    sizes += [size for level in levels for size in (*level.actions, level.limit)]
    return _Plot(curves, levels, min(sizes), max(sizes))


class _Plot(msgspec.Struct, frozen=True):
    """The curves from `low` to `high` actions, as wide as there is room."""

    curves: Sequence[Capability]
    levels: Sequence[Level]
    low: int
    high: int

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        board = _Board(self.low, self.high, len(self.curves), min(WIDEST, options.max_width))
        for threshold in sorted({curve.threshold for curve in self.curves}):
            board.rule(threshold)
        for number, level in enumerate(self.levels):
            board.level(level, number)
        for number, curve in enumerate(self.curves):
            board.draw(curve, number)
        for line in (*board.rows(), *board.axis(), *_legend(self.curves, self.levels)):
            line.no_wrap, line.overflow = True, "ellipsis"
            yield line


class _Cell(msgspec.Struct, frozen=True):
    sign: str
    style: str


class _Board:
    """A grid of characters; whatever is drawn later lies on top, points on everything.

    Every number of actions has as many columns: one for the chance level, then one for each curve as far as
    there is room.
    """

    def __init__(self, low: int, high: int, curves: int, width: int) -> None:
        self._low, self._high = low, high
        self._step = max(1, min(CELL, (width - SCALE) // (high - low + 1)))
        self._width = (high - low + 1) * self._step
        self._slots = max(1, min(curves, self._step - 2))
        self._first = max(0, self._step - self._slots) // 2  # column of the first curve
        self._cells: dict[tuple[int, int], _Cell] = {}  # by row, from the top, and column
        self._points: dict[tuple[int, int], _Cell] = {}

    def rule(self, share: float) -> None:
        for column in range(self._width):
            self._cells[_row(share), column] = _Cell(THRESHOLD, "dim")

    def level(self, level: Level, number: int) -> None:
        """A rate over several numbers of actions, and a mark below the threshold where it is lost."""
        line, mark = LEVELS[number % len(LEVELS)]
        first, last = (self._column(size, 0) for size in level.actions)
        for column in range(first, last + self._slots):
            self._cells[_row(level.best.success), column] = _Cell(line, "dim")
        behind = self._column(level.limit, self._slots)
        self._points[_row(level.threshold) + 1, behind] = _Cell(mark, "dim")

    def draw(self, curve: Capability, number: int) -> None:
        style, slot = STYLES[number % len(STYLES)], number % self._slots
        if curve.fit:
            tried = [point.actions for point in curve.curve]
            for column in range(self._column(min(tried), slot), self._column(max(tried), slot) + 1):
                self._fitted(curve.fit, column, slot, style)
        if curve.half:
            self._cells[_row(0.5), self._column(curve.half.at, slot)] = _Cell(HALF, style)
        for point in curve.curve:
            if point.chance is not None:
                beside = max(0, self._column(point.actions, -1))
                self._points.setdefault((_row(point.chance), beside), _Cell(CHANCE, "dim"))
            self._point(point, self._column(point.actions, slot), _Cell(SIGNS[number % len(SIGNS)], style))

    def _fitted(self, fit: Fit, column: int, slot: int, style: str) -> None:
        """A dot, and more below where the curve is steep."""
        left, right = (
            self._low + (column + side - self._column(self._low, slot)) / self._step for side in (-0.49, 0.49)
        )
        top, bottom = (_row(logistic(actions, fit.half.at, fit.spread)) for actions in (left, right))
        for row in range(top, bottom + 1):
            self._cells[row, column] = _Cell(FITTED, style)

    def _column(self, actions: float, slot: int) -> int:
        return round((actions - self._low) * self._step) + self._first + slot

    def _point(self, point: Point, column: int, sign: _Cell) -> None:
        if point.success is None:
            return
        low, high = (_row(end) for end in point.interval)
        for row in range(high, low + 1):
            self._cells[row, column] = _Cell(BAR, sign.style)
        self._points[_row(point.success), column] = sign

    def rows(self) -> Iterator[Text]:
        for row in range(HEIGHT + 1):
            share = 100 - 100 * row // HEIGHT
            line = Text(f"{share:>4} % ┤" if row % 5 == 0 else f"{'':6} │", style="dim")
            for column in range(self._width):
                cell = self._points.get((row, column)) or self._cells.get((row, column))
                line.append(cell.sign if cell else " ", style=cell.style if cell else "")
            line.rstrip()
            yield line

    def axis(self) -> Iterator[Text]:
        """The numbers of actions, each below its points, as many as there is room for."""
        yield Text(f"{'':6} └{'─' * self._width}", style="dim")
        labels = [" "] * (self._width + SCALE)
        apart = 1 if self._step > len(str(self._high)) else 5
        for size in range(self._low, self._high + 1):
            if size == self._low or size % apart == 0:
                place = self._column(size, (self._slots - 1) // 2)
                labels[place : place + len(str(size))] = str(size)
        yield Text(f"{'actions':{SCALE}}{''.join(labels).rstrip()}", style="dim")


def _row(share: float) -> int:
    return HEIGHT - round(share * HEIGHT)


def _legend(curves: Sequence[Capability], levels: Sequence[Level]) -> Iterator[Text]:
    for number, curve in enumerate(curves):
        style = STYLES[number % len(STYLES)]
        yield Text.assemble((f"{SIGNS[number % len(SIGNS)]} ", style), agent_name(curve))
    thresholds = ", ".join(whole_percent(share) for share in sorted({curve.threshold for curve in curves}))
    fitted = [f"{FITTED} fitted"] if any(curve.fit for curve in curves) else []
    halves = [f"{HALF} 50 %"] if any(curve.half for curve in curves) else []
    marks = [
        f"{BAR} 95 % interval",
        *fitted,
        *halves,
        f"{CHANCE} chance",
        f"{THRESHOLD} threshold {thresholds}",
    ]
    yield Text("   ".join(marks), style="dim")
    for number, level in enumerate(levels):
        line, mark = LEVELS[number % len(LEVELS)]
        told = f"{line} {level.model} on other problems, {PAPER}"
        yield Text(f"{told}   {mark} under {whole_percent(level.threshold)}", style="dim")


def capability_table(capability: Capability) -> Table:
    """One line for each number of actions."""
    table = bare_table()
    all_judged = all(point.passed + point.failed == point.cases for point in capability.curve)
    judged = () if all_judged else ("judged",)
    for heading in ("actions", "cases", *judged, "success", "95 % interval", "chance", *BASELINES.values()):
        table.add_column(heading, justify="right", no_wrap=True)
    for point in capability.curve:
        counts = (point.actions, point.cases, *((point.passed + point.failed,) if judged else ()))
        ends = interval(point.interval) if point.success is not None else "–"
        reached = baseline_rates(point.baselines).values()
        table.add_row(*map(str, counts), percent(point.success), ends, percent(point.chance), *reached)
    return table


def error_table(capabilities: Sequence[Capability]) -> Table:
    """Of each agent, which share of its failures within its limit each kind of error has."""
    columns = [counted_column(each, each.errors) for each in capabilities]
    return shares_table("error", KINDS, columns)


def how_far_table(capabilities: Sequence[Capability], levels: Sequence[Level] = ()) -> Table:
    """Of each agent, where it is at 50 %, and up to where it is above the threshold; of `levels`, all that is
    published."""
    table = bare_table(headed=False)
    for curve in capabilities:
        table.add_row(Text(agent_name(curve), style="bold"), Text(how_far(curve)))
        if limit := limit_in_words(curve):
            table.add_row("", Text(f"limit {limit}"))
        if misfit := misfit_in_words(curve):
            table.add_row("", Text(misfit, style="yellow"))
    for level in levels:
        table.add_row(Text(level_name(level), style="dim"), Text(level_in_words(level), style="dim"))
    return table
