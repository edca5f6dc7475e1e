"""Capability curves on a terminal."""

from collections.abc import Sequence
from math import exp

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.capability import Capability, Fit, Point
from misstep.report.curve import how_far, limit_in_words, misfit_in_words
from misstep.report.shares import KINDS, agent_name, counted_column, shares_table
from misstep.report.terminal import percent

HEIGHT = 20  # rows from 0 to 100 %, five points each
WIDEST = 66  # columns, right of the scale
SIGNS = "●▲■◆▼★"
STYLES = ("cyan", "magenta", "green", "yellow", "blue", "red")
CHANCE, FITTED, THRESHOLD, BAR = "x", "·", "╌", "│"


def capability_plot(curves: Sequence[Capability]) -> RenderableType:
    """Success against the number of actions: points with intervals, the chance level, the fitted curve."""
    sizes = [point.actions for curve in curves for point in curve.curve]
    if not sizes:
        return Text("no case has been run", style="dim")
    board = _Board(min(sizes), max(sizes), len(curves))
    board.rule(curves[0].threshold)
    for number, curve in enumerate(curves):
        board.draw(curve, number)
    return Group(*board.rows(), board.axis(), _legend(curves))


class _Cell(msgspec.Struct, frozen=True):
    sign: str
    style: str


class _Board:
    """A grid of characters; whatever is drawn later lies on top."""

    def __init__(self, low: int, high: int, curves: int) -> None:
        self._low, self._high = low, high
        self._step = max(curves + 1, min(8, WIDEST // (high - low + 1)))
        self._width = (high - low + 1) * self._step
        self._cells: dict[tuple[int, int], _Cell] = {}  # by row, from the top, and column

    def rule(self, share: float) -> None:
        for column in range(self._width):
            self._put(column, share, _Cell(THRESHOLD, "dim"))

    def draw(self, curve: Capability, number: int) -> None:
        style = STYLES[number % len(STYLES)]
        if curve.fit:
            self._fitted(curve.fit, style)
        for point in curve.curve:
            column = (point.actions - self._low) * self._step + self._step // 2 + number
            if point.chance is not None and number == 0:
                self._put(column - 1, point.chance, _Cell(CHANCE, "dim"))
            self._point(point, column, _Cell(SIGNS[number % len(SIGNS)], style))

    def _fitted(self, fit: Fit, style: str) -> None:
        for column in range(self._width):
            actions = self._low + (column - self._step // 2) / self._step
            if self._low <= actions <= self._high:
                self._put(column, _success(fit, actions), _Cell(FITTED, style))

    def _point(self, point: Point, column: int, sign: _Cell) -> None:
        if point.success is None:
            return
        low, high = (_row(end) for end in point.interval)
        for row in range(high, low + 1):
            self._cells[row, column] = _Cell(BAR, sign.style)
        self._put(column, point.success, sign)

    def _put(self, column: int, share: float, cell: _Cell) -> None:
        self._cells[_row(share), column] = cell

    def rows(self) -> list[Text]:
        return [self._line(row) for row in range(HEIGHT + 1)]

    def _line(self, row: int) -> Text:
        share = 100 - 100 * row // HEIGHT
        line = Text(f"{share:>4} % ┤" if row % 5 == 0 else f"{'':6} │", style="dim")
        for column in range(self._width):
            cell = self._cells.get((row, column))
            line.append(cell.sign if cell else " ", style=cell.style if cell else "")
        line.rstrip()
        return line

    def axis(self) -> Text:
        """The numbers of actions, each below its points."""
        labels = "".join(f"{n:^{self._step}}" for n in range(self._low, self._high + 1))
        return Text(f"{'':6} └{'─' * self._width}\n{'':8}{labels.rstrip()}  actions", style="dim")


def _row(share: float) -> int:
    return HEIGHT - round(share * HEIGHT)


def _success(fit: Fit, actions: float) -> float:
    return 1 / (1 + exp(max(-700.0, min(700.0, (actions - fit.half.at) / fit.spread))))


def _legend(curves: Sequence[Capability]) -> Text:
    legend = Text()
    for number, curve in enumerate(curves):
        style = STYLES[number % len(STYLES)]
        legend.append(f"{SIGNS[number % len(SIGNS)]} ", style=style)
        legend.append(f"{agent_name(curve.agent, curve.model)}\n")
    fitted = f"{FITTED} fitted   " if any(curve.fit for curve in curves) else ""
    marks = f"{BAR} 95 % interval   {fitted}{CHANCE} chance   {THRESHOLD} threshold"
    return legend.append(marks, style="dim")


def capability_table(capability: Capability) -> Table:
    """One line for each number of actions."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("actions", "cases", "success", "95 % interval", "chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    for point in capability.curve:
        low, high = point.interval
        interval = f"{100 * low:.1f} – {100 * high:.1f} %" if point.success is not None else "–"
        success, chance = percent(point.success), percent(point.chance)
        table.add_row(str(point.actions), str(point.cases), success, interval, chance)
    return table


def error_table(capabilities: Sequence[Capability]) -> Table:
    """Of each agent, which share of its failures within its limit each kind of error has."""
    columns = [counted_column(each.agent, each.model, each.errors) for each in capabilities]
    return shares_table("error", KINDS, columns)


def how_far_table(capabilities: Sequence[Capability]) -> Table:
    """Of each agent, where it is at 50 %, and up to where it is above the threshold."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for curve in capabilities:
        table.add_row(Text(agent_name(curve.agent, curve.model), style="bold"), how_far(curve))
        table.add_row("", f"limit {limit_in_words(curve)}")
        if misfit := misfit_in_words(curve):
            table.add_row("", Text(misfit, style="yellow"))
    return table
