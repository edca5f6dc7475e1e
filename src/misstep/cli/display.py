"""Progress of a run on standard error."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from misstep.core.event import CaseFinished, Event, Notice, RunStarted
from misstep.core.settings import Settings
from misstep.core.verdict import JUDGEMENTS, Judgement
from misstep.report.terminal import counted

PLAIN_LINES = 10


class Display(Protocol):
    """A listener that owns part of the screen while it is entered."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def __call__(self, event: Event) -> None: ...


def make_display(settings: Settings) -> Display:
    kind = settings.display
    if kind == "auto":
        kind = "rich" if sys.stderr.isatty() else "plain"
    known: dict[str, Callable[[], Display]] = {"rich": LiveDisplay, "plain": PlainDisplay, "none": NoDisplay}
    return known[kind]()


class _Counts:
    def __init__(self, verdicts: Mapping[Judgement, int]) -> None:
        self._counts = {name: verdicts.get(name, 0) for name in JUDGEMENTS}

    @property
    def done(self) -> int:
        return sum(self._counts.values())

    def add(self, event: CaseFinished) -> None:
        self._counts[event.outcome.verdict.verdict] += 1

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

    def __init__(self) -> None:
        self._counts = _Counts({})
        self._total = 0
        self._every = 1

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._total, self._counts = event.total, _Counts(event.verdicts)
            self._every = max(1, event.total // PLAIN_LINES)
            self._say(f"run {event.run}: {counted(event.total, 'case')}" + _resumed(event))
        elif isinstance(event, CaseFinished):
            self._counts.add(event)
            if self._counts.done % self._every == 0 or self._counts.done == self._total:
                self._say(f"{self._counts.done}/{self._total}  {self._counts}")
        elif isinstance(event, Notice):
            self._say(event.text)

    def _say(self, line: str) -> None:
        with suppress(OSError):  # a run goes on though nobody watches
            print(line, file=sys.stderr, flush=True)


class LiveDisplay:
    """A bar with the counts per verdict, redrawn a few times a second."""

    def __init__(self) -> None:
        columns = (
            BarColumn(30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), refresh_per_second=8)
        self._task = self._progress.add_task("", start=False, total=None, counts="")
        self._counts = _Counts({})

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._progress.start_task(self._task)
            self._counts = _Counts(event.verdicts)
            self._progress.update(self._task, total=event.total, completed=self._counts.done)
            total = counted(event.total, "case")
            self._progress.console.print(f"run [bold]{event.run}[/]: {total}" + _resumed(event))
        elif isinstance(event, CaseFinished):
            self._counts.add(event)
            self._progress.update(self._task, advance=1, counts=str(self._counts))
        elif isinstance(event, Notice):
            self._progress.console.print(event.text, markup=False, highlight=False, style="dim")


def _resumed(event: RunStarted) -> str:
    before = sum(event.verdicts.values())
    return f", {before} of them done before" if before else ""
