"""Shows the progress of a run on the screen."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Self, TextIO, TypeAlias

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from misstep.cli.screen import Screen
from misstep.core.event import (
    CaseFinished,
    Event,
    FindingMade,
    GroupFinished,
    ItemStarted,
    Notice,
    RunStarted,
    SetJudged,
    Spending,
    TaskJudged,
    ToolChecked,
    ToolFinished,
    ToolMended,
)
from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.results.finding import Finding, causes_of
from misstep.core.results.fuzzing import ToolReport
from misstep.core.run import Unit
from misstep.core.settings import OutputSettings
from misstep.core.spending import Pace
from misstep.rendering.terminal import counted, duration, estimate_line, spending_in_words
from misstep.rendering.text import plain, plain_lines

Finished: TypeAlias = CaseFinished | ToolFinished | ToolChecked | GroupFinished | TaskJudged | ToolMended


class FindingsSoFar:
    """The defects of tools that a run has found: how many of each kind, and the worst."""

    def __init__(self) -> None:
        # With the title of the tool and the name of the target, by id. A live display reads it in a thread.
        self._found = dict[str, tuple[Finding, str, str]]()
        self._changes = 0
        self._told = 0, ""  # after how many changes

    def add(self, event: FindingMade) -> None:
        tool = event.finding.tool
        self._found[event.finding.id] = event.finding, _titled(tool, event.origin), event.target or tool
        self._changes += 1

    def confirm(self, report: ToolReport) -> None:
        """Take over what was confirmed. What a tool did not show again is not counted any more."""
        kept = {finding.id: finding for finding in (*report.findings, *report.unconfirmed)}
        for name, (_, title, target) in [*self._found.items()]:
            if name in kept:
                self._found[name] = kept[name], title, target
            elif report.name == target:
                del self._found[name]
        self._changes += 1

    @property
    def words(self) -> str:
        """The number of defects, the worst kinds first, and the worst defect; empty if there are none."""
        changes, (before, told) = self._changes, self._told
        if changes != before:
            told = self._in_words()
            self._told = changes, told
        return told

    def _in_words(self) -> str:
        found = self._found.copy()
        causes = causes_of([finding for finding, _, _ in found.values()])
        if not causes:
            return ""
        kinds = Counter(cause.findings[0].kind for cause in causes)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        waiting = sum(not any(each.replayed for each in cause.findings) for cause in causes)
        doubt = f" ({waiting} not confirmed yet)" if waiting else ""
        worst = causes[0].findings[0]
        what = f"{worst.kind} in {found[worst.id][1]}: {worst.error}"
        return f"{counted(len(causes), 'defect')}{doubt}: {told}; the worst: {plain(what, 100)}"


class ProgressSoFar:
    """What a display shows: counts by verdict, the rate, what has been found and spent."""

    def __init__(self, started: RunStarted | None, clock: Callable[[], float]) -> None:
        verdicts: Mapping[Judgement, int] = started.verdicts if started else {}
        self.total = started.total if started else 0
        self._unit: Unit = started.unit if started else "case"
        self._counts = {name: verdicts.get(name, 0) for name in JUDGEMENTS}
        self._pace = Pace(self.done, clock)
        self._calls = Pace(0, clock)
        self._spending: Spending | None = None
        self._running: dict[str, tuple[float, str]] = {}  # when work on it started, and its title
        self._clock = clock
        self.found = FindingsSoFar()

    @property
    def done(self) -> int:
        return sum(self._counts.values())

    def start(self, event: ItemStarted) -> None:
        self._running[event.name] = self._clock(), _titled(event.name, event.origin)

    def add(self, event: Finished) -> None:
        self._running.pop(_name(event), None)
        if isinstance(event, ToolFinished):
            self.found.confirm(event.report)
        self._counts[_verdict(event)] += 1
        self._pace.reach(self.done)

    def hear(self, event: Event) -> None:
        if isinstance(event, FindingMade):
            self.found.add(event)

    @property
    def of_tools(self) -> list[tuple[str, str]]:
        """Which tools are tested, and what was found; nothing for cases."""
        told = [("testing", self.running), ("found", self.found.words)]
        return [(title, text) for title, text in told if text and self._unit == "tool"]

    def spend(self, event: Spending) -> None:
        if self._spending is None:
            self._calls = Pace(event.used.calls, self._calls.clock)
        self._spending = event
        self._calls.reach(event.used.calls)

    @property
    def counts(self) -> str:
        return "  ".join(
            f"{name} {count}" for name, count in self._counts.items() if count or name in ("passed", "failed")
        )

    @property
    def running(self) -> str:
        """What is in flight, the longest first; cases, whose ids say nothing, are only counted."""
        now, oldest = self._clock(), sorted(self._running.copy().values(), key=lambda each: each[0])
        if not oldest:
            return ""
        if self._unit == "case":
            return f"{counted(len(oldest), 'case')}, the longest for {now - oldest[0][0]:.0f} s"
        told = [f"{plain(title, 60)} ({now - began:.0f} s)" for began, title in oldest[:MOST_RUNNING]]
        more = len(oldest) - len(told)
        return ", ".join(told) + (f" and {more} more" if more else "")

    @property
    def rate(self) -> str:
        """Cases or tasks per second; for tools, which take long, calls per second."""
        pace, what = (self._calls, "call") if self._unit == "tool" else (self._pace, self._unit)
        rate = pace.rate or 0.0
        rounded = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}" if rate >= 1 else f"{rate:.2f}"
        return f"{rounded} {what}s/s" if rate else ""

    @property
    def left(self) -> str:
        """Estimated time left, or the time left in the budget if that is less."""
        known = [self._pace.left(self.total)] if self.total > self.done else []
        if self._spending and (limit := self._spending.budget.seconds) is not None:
            known.append(max(0.0, limit - self._spending.used.seconds))
        seconds = [each for each in known if each is not None]
        return f"{duration(min(seconds))} left" if seconds and self.rate else ""

    @property
    def spent(self) -> str:
        return spending_in_words(self._spending.used, self._spending.budget) if self._spending else ""


def _verdict(event: Finished) -> Judgement:
    """The verdict on what has finished. A tool passes if no defect was found."""
    if isinstance(event, CaseFinished):
        return event.outcome.verdict.verdict
    if isinstance(event, GroupFinished):
        return event.verdict
    if isinstance(event, ToolChecked | TaskJudged | ToolMended):
        return event.report.verdict
    return "failed" if event.report.findings else "passed"


def _name(event: Finished) -> str:
    if isinstance(event, CaseFinished):
        return event.outcome.case.id
    return event.group if isinstance(event, GroupFinished) else event.report.name


def _titled(name: str, origin: str) -> str:
    """The name of a tool with that of its server, unless it has that already."""
    return name if not origin or name.endswith(f" of {origin}") else f"{name} of {origin}"


MOST_RUNNING = 3  # names in the live display
PLAIN_LINES = 10
UNTIL_NEXT = 50  # cases between two lines where the total is unknown
REDRAWS = 8.0  # per second at most, however many cases finish


def make_display(settings: OutputSettings, stream: TextIO) -> "NoDisplay":
    kind = settings.display
    if kind == "auto":
        kind = "rich" if stream.isatty() else "plain"
    known: dict[str, Callable[[TextIO], NoDisplay]] = {"rich": LiveDisplay, "plain": PlainDisplay}
    return known[kind](stream) if kind in known else NoDisplay()


class NoDisplay:
    """A listener; others draw on part of the screen while they are entered."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, event: Event) -> None:
        pass


class PlainDisplay(NoDisplay):
    """Prints a line at the start, and the state of the run about ten times."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._progress = ProgressSoFar(None, clock)
        self._every = 1

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._progress = ProgressSoFar(event, self._clock)
            self._every = max(1, event.total // PLAIN_LINES) if event.total else UNTIL_NEXT
            self._say(f"run {event.run}{_size(event)}")
            if ahead := _expected(event):
                self._say(ahead)
        elif isinstance(event, Spending):
            self._progress.spend(event)
        elif isinstance(event, ItemStarted):
            self._progress.start(event)
        elif isinstance(event, Finished):
            self._progress.add(event)
            if self._progress.done % self._every == 0 or self._progress.done == self._progress.total:
                self._say_how_far()
        else:
            self._progress.hear(event)
            if line := _news(event):
                self._say(line)

    def _say_how_far(self) -> None:
        now = self._progress
        done = f"{now.done}/{now.total}" if now.total else str(now.done)
        self._say("  ".join(filter(None, [done, now.counts, now.rate, now.spent, now.left])))
        if now.done < now.total:
            for title, told in now.of_tools:
                self._say(f"  {title} {told}")

    def _say(self, line: str) -> None:
        with suppress(OSError):  # the run continues if nobody reads this
            print(line, file=self._stream, flush=True)


class LiveDisplay(NoDisplay):
    """A progress bar with the counts per verdict; below it what is in flight, and the cost.

    Events are only counted; the bar reads the counts when it is drawn.
    """

    def __init__(
        self, stream: TextIO, redraws: float = REDRAWS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._progress = ProgressSoFar(None, clock)
        self._bar = _Bar(lambda: self._progress, _Terminal(file=stream), redraws)

    def __enter__(self) -> Self:
        if isinstance(self._stream, Screen):  # lines from the agent are printed above the bar
            self._stream.show = lambda line: self._bar.console.print(Text(line), soft_wrap=True)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        if isinstance(self._stream, Screen):
            self._stream.show = self._stream.show_below

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._progress = ProgressSoFar(event, self._clock)
            self._bar.begin(event.total)
            self._bar.console.print(f"run [bold]{event.run}[/]{_size(event)}")
            if ahead := _expected(event):
                self._bar.console.print(ahead, markup=False, highlight=False, style="dim")
        elif isinstance(event, Finished):
            self._progress.add(event)
        elif isinstance(event, ItemStarted):
            self._progress.start(event)
        elif isinstance(event, Spending):
            self._progress.spend(event)
        else:
            self._progress.hear(event)
            if line := _news(event):
                self._bar.console.print(line, markup=False, highlight=False, style="dim")


class _Bar(Progress):
    """Reads the progress of the run each time it is drawn."""

    def __init__(self, progress: "Callable[[], ProgressSoFar]", console: Console, redraws: float) -> None:
        self._now = progress
        # Agents can print without Python's streams, so redirecting those is left to the screen.
        super().__init__(
            BarColumn(20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TextColumn("{task.fields[rate]}", style="dim"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", style="dim"),
            console=console,
            refresh_per_second=redraws,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self.add_task("", start=False, total=None, counts="", rate="", left="")

    def begin(self, total: int) -> None:
        self.start_task(self._task)
        self.update(self._task, total=total or None)

    def get_renderables(self) -> Iterable[RenderableType]:
        now = self._now()
        if self.tasks:
            counts = now.counts if now.done else ""
            self.update(self._task, completed=now.done, counts=counts, rate=now.rate, left=now.left)
        yield from super().get_renderables()
        for title, told in (("running", now.running), ("found", now.found.words), ("spent", now.spent)):
            if told:
                yield Text(f"{title} {told}", style="dim", overflow="ellipsis", no_wrap=True)


class _Terminal(Console):
    """A console as wide as its own file, whatever the standard streams are at the moment."""

    @property  # type: ignore[misc]
    def size(self) -> ConsoleDimensions:
        if "COLUMNS" in os.environ:
            return super().size
        try:
            width, height = os.get_terminal_size(self.file.fileno())
        except (OSError, ValueError):
            return super().size
        return ConsoleDimensions(width, height) if width and height else super().size


def _expected(event: RunStarted) -> str:
    return estimate_line(event.estimate) if event.estimate else ""


def _size(event: RunStarted) -> str:
    """The number of cases, if it is known, and how many were done before."""
    before = sum(event.verdicts.values())
    if not event.total:
        return f": {counted(before, event.unit)} done before" if before else ""
    return f": {counted(event.total, event.unit)}" + (f", {before} of them done before" if before else "")


def _news(event: Event) -> str:
    if isinstance(event, FindingMade):
        finding = event.finding
        place = f" at {finding.where.partition(' in ')[0]}" if finding.where else ""
        after = counted(finding.found_after, "call")
        doubt = "" if finding.replayed else ", not confirmed yet"
        tool = _titled(finding.tool, event.origin)
        return plain(f"{finding.kind} in {tool}: {finding.error}{place} (after {after}{doubt})", 300)
    if isinstance(event, SetJudged) and event.set.verdict == "failed":
        return plain(f"{event.tool}: set {event.set.id} failed, {event.set.why}", 300)
    return plain_lines(event.text) if isinstance(event, Notice) else ""
