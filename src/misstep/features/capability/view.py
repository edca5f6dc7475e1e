"""Shows capability curves on the terminal and in words, with the PDoctor paper's published results."""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TypeAlias

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from misstep.core.results.capability import Capability, Fit
from misstep.core.stats import logistic, wilson
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import BASELINES, KINDS, baseline_rates, counted_column, percent, shares_table
from misstep.rendering.words import IN_FULL, agent_name, interval, p_in_words


class PublishedAgent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the paper says about one agent; shares are in percent and may be missing for timed problems."""

    framework: str
    paradigm: str
    model: str
    generated: int
    failed: int
    synthesis_seconds: float
    agent_seconds: float
    errors: Mapping[str, float]
    causes: Mapping[str, float]
    timed_errors: Mapping[str, float] = {}
    timed_causes: Mapping[str, float] = {}

    @property
    def success(self) -> float:
        return 1 - self.failed / self.generated

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval from the paper's counts; the paper prints none."""
        return wilson(self.generated - self.failed, self.generated)


class PublishedReach(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many actions the paper's agents can plan.

    The first and last number of actions that their rates cover, and for each model the number at which
    success is below the threshold.
    """

    actions: tuple[int, int]
    threshold: float
    limits: Mapping[str, int]


class PDoctorPaper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: tuple[PublishedAgent, ...]
    reach: PublishedReach
    topics: Mapping[str, Mapping[str, int]]


class Level(msgspec.Struct, frozen=True):
    """The results of a model's agents in the paper, which gives no curve in numbers.

    One rate for each agent over several numbers of actions, and where success is below the threshold.
    """

    model: str
    agents: Sequence[PublishedAgent]
    actions: tuple[int, int]
    threshold: float
    limit: int

    @property
    def best(self) -> PublishedAgent:
        return max(self.agents, key=lambda agent: agent.success)


@cache
def load_paper() -> PDoctorPaper:
    text = resources.files(__package__).joinpath("data/pdoctor.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), PDoctorPaper)


def published_levels() -> tuple[Level, ...]:
    """One for each model, the weaker first."""
    levels, paper = list[Level](), load_paper()
    for model, limit in paper.reach.limits.items():
        agents = [agent for agent in paper.agent if agent.model == model]
        levels.append(Level(model, agents, paper.reach.actions, paper.reach.threshold, limit))
    return tuple(levels)


PAPER = "PDoctor paper"
OTHER_PROBLEMS = f"{PAPER}: other problems than these"
NOTHING_JUDGED = "no case was judged"
MISFIT = 0.01  # p-value below which a curve is said not to fit


def whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def how_far(curve: Capability) -> str:
    """How many actions the agent can plan: where success falls to 50 %, or what is known instead."""
    if curve.half:
        low, high = ("–" if end is None else f"{end:.1f}" for end in curve.half.interval)
        return f"50 % at n = {curve.half.at:.1f} [{low}, {high}]"
    rates = {point.actions: point.success for point in curve.curve if point.success is not None}
    if not rates:
        return NOTHING_JUDGED
    if min(rates.values()) > 0.5:
        return f"above 50 % up to n = {max(rates)}"
    if max(rates.values()) < 0.5:
        return f"below 50 % from n = {min(rates)} on"
    if curve.reached:
        under = f"under {whole_percent(curve.threshold)}"
        return f"{under} from the start" if curve.limit is None else f"{under} after {curve.limit} actions"
    return f"{whole_percent(rates[max(rates)])} at {max(rates)} actions"


def plans_up_to(curve: Capability) -> str:
    """The largest number of actions with a success rate of at least 50 %, in a few words."""
    rates = {point.actions: point.success for point in curve.curve if point.success is not None}
    if not rates:
        return "Nothing judged"
    if curve.half and curve.half.at >= min(rates):
        return f"Plans up to {math.floor(curve.half.at)} actions"
    if min(rates.values()) > 0.5:
        return f"Plans at least {max(rates)} actions"
    if max(rates.values()) < 0.5:
        return f"Does not plan {min(rates)} actions"
    return f"Plans up to {max(size for size, rate in rates.items() if rate >= 0.5)} actions"


def limit_in_words(curve: Capability) -> str:
    """Up to how many actions success is at least at the threshold; empty if unknown."""
    least = whole_percent(curve.threshold)
    if not curve.reached:
        never = f"at least {curve.limit} actions: never under {least}"
        return "" if curve.limit is None else never
    if curve.limit is None:
        first = min(point.actions for point in curve.curve if point.success is not None)
        return f"not even {first} actions: under {least} from the start"
    return f"{curve.limit} actions: under {least} beyond"


def misfit_in_words(curve: Capability) -> str:
    if not curve.fit or curve.fit.misfit is None or curve.fit.misfit >= MISFIT:
        return ""
    return f"the fitted curve does not match the points ({p_in_words(curve.fit.misfit)}): rely on the points"


def level_name(level: Level) -> str:
    return f"{level.model} in the {PAPER}"


def level_in_words(level: Level) -> str:
    (low, high), best = level.actions, level.best
    rate = f"{whole_percent(best.success)} with {low}–{high} actions ({best.framework})"
    return f"{rate}, under {whole_percent(level.threshold)} at {level.limit}"


def in_words(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> str:
    """Everything in the figure, for readers who don't see it."""
    told = list[str]()
    for curve in curves:
        rates = [
            f"{whole_percent(each.success)} of {each.passed + each.failed} cases with {each.actions} actions"
            for each in curve.curve
            if each.success is not None
        ]
        told.append(f"{agent_name(curve, IN_FULL)}: {'; '.join((*rates, how_far(curve)))}")
    told += [f"{level_name(level)}: {level_in_words(level)}" for level in levels]
    return " ".join(f"{each}." for each in (*told, *([OTHER_PROBLEMS] if levels else [])))


HEIGHT = 20  # rows from 0 to 100 %, five points each
WIDEST = 80  # columns of the whole plot, if the terminal is that wide
SCALE = 8  # columns to its left
CELL = 8  # columns for a number of actions, if there is room
SIGNS = "●▲■◆▼★"
STYLES = ("cyan", "magenta", "green", "yellow", "blue", "red")
CHANCE, FITTED, THRESHOLD, BAR, HALF = "x", "·", "╌", "│", "+"
LEVELS = (("─", "↓"), ("═", "⇓"))  # published: a rate, and where it falls below the threshold


def capability_plot(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> RenderableType:
    """Success by number of actions; `levels` are published results."""
    sizes = [point.actions for curve in curves for point in curve.curve]
    if not sizes:
        return Text("no case has been run", style="dim")
    sizes += [size for level in levels for size in (*level.actions, level.limit)]
    return _Plot(curves, levels, min(sizes), max(sizes))


class _Plot(msgspec.Struct, frozen=True):
    """The curves from `low` to `high` actions, as wide as the terminal allows."""

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


_Cell: TypeAlias = tuple[str, str]  # a sign and its style


class _Board:
    """A grid of characters; later drawings cover earlier ones, and points cover everything.

    Every number of actions has the same number of columns: one for the chance level, then one for each curve
    as far as there is room.
    """

    def __init__(self, low: int, high: int, curves: int, width: int) -> None:
        self._low, self._high = low, high
        self._step = max(1, min(CELL, (width - SCALE) // (high - low + 1)))
        self._width = (high - low + 1) * self._step
        self._slots = max(1, min(curves, self._step - 2))
        self._first = max(0, self._step - self._slots) // 2  # column of the first curve
        self._cells: dict[tuple[int, int], _Cell] = {}  # by row from the top, and column
        self._points: dict[tuple[int, int], _Cell] = {}

    def rule(self, share: float) -> None:
        for column in range(self._width):
            self._cells[_row(share), column] = (THRESHOLD, "dim")

    def level(self, level: Level, number: int) -> None:
        """A rate over several numbers of actions, and a mark below the threshold where it falls short."""
        line, mark = LEVELS[number % len(LEVELS)]
        first, last = (self._column(size, 0) for size in level.actions)
        for column in range(first, last + self._slots):
            self._cells[_row(level.best.success), column] = (line, "dim")
        behind = self._column(level.limit, self._slots)
        self._points[_row(level.threshold) + 1, behind] = (mark, "dim")

    def draw(self, curve: Capability, number: int) -> None:
        style, slot = STYLES[number % len(STYLES)], number % self._slots
        if curve.fit:
            tried = [point.actions for point in curve.curve]
            for column in range(self._column(min(tried), slot), self._column(max(tried), slot) + 1):
                self._fitted(curve.fit, column, slot, style)
        if curve.half:
            self._cells[_row(0.5), self._column(curve.half.at, slot)] = (HALF, style)
        for point in curve.curve:
            if point.chance is not None:
                beside = max(0, self._column(point.actions, -1))
                self._points.setdefault((_row(point.chance), beside), (CHANCE, "dim"))
            if point.success is not None:
                column = self._column(point.actions, slot)
                low, high = (_row(end) for end in point.interval)
                for row in range(high, low + 1):
                    self._cells[row, column] = (BAR, style)
                self._points[_row(point.success), column] = (SIGNS[number % len(SIGNS)], style)

    def _fitted(self, fit: Fit, column: int, slot: int, style: str) -> None:
        """A dot, and more below it where the curve is steep."""
        left, right = (
            self._low + (column + side - self._column(self._low, slot)) / self._step for side in (-0.49, 0.49)
        )
        top, bottom = (_row(logistic(actions, fit.half.at, fit.spread)) for actions in (left, right))
        for row in range(top, bottom + 1):
            self._cells[row, column] = (FITTED, style)

    def _column(self, actions: float, slot: int) -> int:
        return round((actions - self._low) * self._step) + self._first + slot

    def rows(self) -> Iterator[Text]:
        for row in range(HEIGHT + 1):
            share = 100 - 100 * row // HEIGHT
            line = Text(f"{share:>4} % ┤" if row % 5 == 0 else f"{'':6} │", style="dim")
            for column in range(self._width):
                sign, style = self._points.get((row, column)) or self._cells.get((row, column), (" ", ""))
                line.append(sign, style=style)
            line.rstrip()
            yield line

    def axis(self) -> Iterator[Text]:
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
    marks = [f"{BAR} 95 % interval", *fitted, *halves, f"{CHANCE} chance"]
    yield Text("   ".join([*marks, f"{THRESHOLD} threshold {thresholds}"]), style="dim")
    for number, level in enumerate(levels):
        line, mark = LEVELS[number % len(LEVELS)]
        told = f"{line} {level.model} on other problems, {PAPER}"
        yield Text(f"{told}   {mark} under {whole_percent(level.threshold)}", style="dim")


def capability_table(capability: Capability) -> Table:
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
    columns = [counted_column(each, each.errors) for each in capabilities]
    return shares_table("error", KINDS, columns)


def how_far_table(capabilities: Sequence[Capability], levels: Sequence[Level] = ()) -> Table:
    """For each agent, its 50 % point and the limit above the threshold; for `levels`, what is published."""
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
