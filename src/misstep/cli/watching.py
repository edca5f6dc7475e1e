"""Whoever watches a run from the command line."""

from collections.abc import Iterator
from contextlib import contextmanager

from misstep.cli.display import make_display
from misstep.cli.output import ours_alone
from misstep.cli.reports import make_reports
from misstep.core.event import Event, Listener, RunStarted
from misstep.core.settings import Settings


@contextmanager
def watched(settings: Settings) -> Iterator[list[Listener]]:
    """The display and the reports that were asked for; meanwhile standard output is ours alone."""
    with (
        ours_alone() as screen,
        make_display(settings, screen) as display,
        make_reports(settings, screen.stdout) as reports,
    ):
        yield [display, *reports]


class Started:
    """Remembers the run, so that what it has found can be shown though it was stopped."""

    run = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.run = event.run
