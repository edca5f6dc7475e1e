"""Progress of a run on the screen."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Protocol, TextIO, TypeAlias

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from misstep.cli.screen import Screen
from misstep.core.event import (
    CaseFinished,
    Event,
    FindingMade,
    GroupFinished,
    Notice,
    RunStarted,
    SetJudged,
    TaskJudged,
    ToolChecked,
    ToolFinished,
    ToolMended,
)
from misstep.core.settings import Settings
from misstep.core.verdict import JUDGEMENTS, Judgement
from misstep.report.estimate import estimate_line
from misstep.report.terminal import counted
from misstep.report.text import plain, plain_lines

PLAIN_LINES = 10
UNTIL_NEXT = 50  # cases between two lines where nobody knows how many there will be
REDRAWS = 8.0  # a second at most, however many cases finish meanwhile

Finished: TypeAlias = CaseFinished | ToolFinished | ToolChecked | GroupFinished | TaskJudged | ToolMended


class Display(Protocol):
    """A listener that owns part of the screen while it is entered."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def __call__(self, event: Event) -> None: ...


def make_display(settings: Settings, stream: TextIO) -> Display:
    kind = settings.display
    if kind == "auto":
        kind = "rich" if stream.isatty() else "plain"
    known: dict[str, Callable[[TextIO], Display]] = {"rich": LiveDisplay, "plain": PlainDisplay}
    return known[kind](stream) if kind in known else NoDisplay()


class _Counts:
    def __init__(self, verdicts: Mapping[Judgement, int]) -> None:
        self._counts = {name: verdicts.get(name, 0) for name in JUDGEMENTS}

    @property
    def done(self) -> int:
        return sum(self._counts.values())

    def add(self, event: Finished) -> None:
        self._counts[_verdict(event)] += 1

    def __str__(self) -> str:
        return "  ".join(
            f"{name} {count}" for name, count in self._counts.items() if count or name in ("passed", "failed")
        )


class NoDisplay:
    def __enter__(self) -> "NoDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, event: Event) -> None:
        pass


class PlainDisplay(NoDisplay):
    """A line at the start and about ten more on the way."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._counts = _Counts({})
        self._total = 0
        self._every = 1

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._total, self._counts = event.total, _Counts(event.verdicts)
            self._every = max(1, event.total // PLAIN_LINES) if event.total else UNTIL_NEXT
            self._say(f"run {event.run}{_size(event)}")
            if ahead := _expected(event):
                self._say(ahead)
        elif isinstance(event, Finished):
            self._counts.add(event)
            if self._counts.done % self._every == 0 or self._counts.done == self._total:
                self._say(f"{self._counts.done}{f'/{self._total}' if self._total else ''}  {self._counts}")
        elif line := _news(event):
            self._say(line)

    def _say(self, line: str) -> None:
        with suppress(OSError):  # a run goes on though nobody watches
            print(line, file=self._stream, flush=True)


class LiveDisplay:
    """A bar with the counts per verdict. Events are only counted: the bar asks when it is drawn."""

    def __init__(self, stream: TextIO, redraws: float = REDRAWS) -> None:
        self._stream = stream
        self._counts = _Counts({})
        self._bar = _Bar(lambda: self._counts, _Terminal(file=stream), redraws)

    def __enter__(self) -> "LiveDisplay":
        if isinstance(self._stream, Screen):
            self._stream.show = self._show_above
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        if isinstance(self._stream, Screen):
            self._stream.show = self._stream.show_below

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._counts = _Counts(event.verdicts)
            self._bar.begin(event.total)
            self._bar.console.print(f"run [bold]{event.run}[/]{_size(event)}")
            if ahead := _expected(event):
                self._bar.console.print(ahead, markup=False, highlight=False, style="dim")
        elif isinstance(event, Finished):
            self._counts.add(event)
        elif line := _news(event):
            self._bar.console.print(line, markup=False, highlight=False, style="dim")

    def _show_above(self, line: str) -> None:
        """A line of the agent's, with the bar going on below it."""
        self._bar.console.print(Text(line), soft_wrap=True)


class _Bar(Progress):
    """Shows the counts that there are at the moment, so many times a second."""

    def __init__(self, counts: "Callable[[], _Counts]", console: Console, redraws: float) -> None:
        self._now = counts
        # What agents print does not come by way of Python's streams alone, so they are left to others.
        super().__init__(
            BarColumn(30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            console=console,
            refresh_per_second=redraws,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self.add_task("", start=False, total=None, counts="")

    def begin(self, total: int) -> None:
        self.start_task(self._task)
        self.update(self._task, total=total or None)

    def get_renderables(self) -> Iterable[RenderableType]:
        if self.tasks:
            counts = self._now()
            self.update(self._task, completed=counts.done, counts=str(counts) if counts.done else "")
        return super().get_renderables()


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
    """How many cases there are, where that is known, and how many were done before."""
    before = sum(event.verdicts.values())
    if not event.total:
        return f": {counted(before, event.unit)} done before" if before else ""
    return f": {counted(event.total, event.unit)}" + (f", {before} of them done before" if before else "")


def _verdict(event: Finished) -> Judgement:
    """A tool passes if it has no defect that was found."""
    if isinstance(event, CaseFinished):
        return event.outcome.verdict.verdict
    if isinstance(event, GroupFinished):
        return event.verdict
    if isinstance(event, ToolChecked | TaskJudged | ToolMended):
        return event.report.verdict
    return "failed" if event.report.findings else "passed"


def _news(event: Event) -> str:
    """What is told at once, in a line or so."""
    if isinstance(event, FindingMade):
        finding = event.finding
        place = f", {finding.where}" if finding.where else ""
        after = counted(finding.found_after, "call")
        return plain(f"{finding.tool}: {finding.kind}, {finding.error}{place}, after {after}", 300)
    if isinstance(event, SetJudged) and event.set.verdict == "failed":
        return plain(f"{event.tool}: set {event.set.id} failed, {event.set.why}", 300)
    return plain_lines(event.text) if isinstance(event, Notice) else ""
