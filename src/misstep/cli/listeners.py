"""Shows the events of a run on the command line, and writes its reports at the end."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeVar

from misstep.cli.display import LiveDisplay, make_display
from misstep.cli.exit_policy import CommandResult
from misstep.cli.output import INCONCLUSIVE, own_output
from misstep.cli.reports import STEP_SUMMARY, add_step_summary, make_reports, summed, write_reports
from misstep.core.event import Event, Listener, Notice, RunStarted
from misstep.core.settings import AgentRunSettings, OutputSettings, RunSettings
from misstep.errors import BudgetExceeded, MisstepError, StoreError
from misstep.rendering.text import plain_lines
from misstep.runs.reporting.export import traced
from misstep.store.location import find_database


def close_run(settings: RunSettings, run: str, ending: CommandResult | None) -> None:
    """Write the reports of a stored run that were requested; without an ending, there was no gate."""
    asked = any(kind != "ndjson" for kind in settings.report)
    if not asked and not (settings.step_summary and os.environ.get(STEP_SUMMARY)):
        return
    from misstep.runs.reporting.statement import state

    held = ending.held if ending else None
    passed = None if ending is None or ending.code == INCONCLUSIVE else not ending.code
    statement = state(settings, run, held, passed)
    write_reports(settings, statement, lambda: summed(settings, run, ending or CommandResult(0)))
    add_step_summary(settings, statement)


R = TypeVar("R")


@contextmanager
def displayed(settings: OutputSettings) -> Iterator[list[Listener]]:
    """The display only; meanwhile nothing else can write to standard output."""
    with own_output() as screen, make_display(settings, screen) as display:
        yield [display]


@contextmanager
def watched(settings: AgentRunSettings) -> Iterator[list[Listener]]:
    """The display and the requested reports and traces; nothing else can write to standard output.

    Reports are also written if the run ended because its budget was spent.
    """
    find_database(settings.store)  # its driver may be missing, which is reported before anything is done
    started = _Started()

    def complain(text: str) -> None:
        """Show a warning which is not about the run, even if progress is not shown."""
        if isinstance(display, LiveDisplay):
            display(Notice(text))
        else:
            print(plain_lines(text), file=screen, flush=True)

    try:
        with (
            own_output() as screen,
            make_display(settings, screen) as display,
            make_reports(settings, screen.stdout) as reports,
            traced(settings, complain) as tracers,
        ):
            yield [started, display, *reports, *tracers]
    except BudgetExceeded:
        if started.run:
            close_run(settings, started.run, None)
        raise


def followed(
    watching: AbstractContextManager[list[Listener]],
    run: Callable[..., R],
    view: Callable[[str], R],
    show: Callable[[R], object],
) -> R:
    """Run with listeners and return the result.

    If the run is stopped, what it has found so far is read from the store and shown.
    """
    started = _Started()
    try:
        with watching as listeners:
            return run(started, *listeners)
    except MisstepError:
        if started.run:
            with suppress(StoreError):  # may be what stopped it
                show(view(started.run))
        raise


class _Started:
    run = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.run = event.run
