"""Shows the progress of a test in a notebook while it runs."""

import sys
import time
from typing import Any

from misstep.cli.display import Finished, ProgressSoFar
from misstep.core.event import Event, ItemStarted, Listener, RunFinished, RunStarted, RunStopped, Spending
from misstep.rendering.html.markup import Markup, element, text

PAUSE = 0.25  # seconds between two updates


def notebook_listeners() -> list[Listener]:
    """A listener that shows progress below the cell, if this is a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return [NotebookProgress()] if getattr(shell, "kernel", None) else []


class NotebookProgress:
    """A bar with counts, what is in flight and the cost; it disappears when the result is there."""

    def __init__(self) -> None:
        self._progress = ProgressSoFar(None, time.monotonic)
        self._handle: Any = None
        self._drawn = 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._progress = ProgressSoFar(event, time.monotonic)
            self._draw()
        elif isinstance(event, RunFinished | RunStopped):
            self._show(Markup(""))
        elif isinstance(event, Finished | ItemStarted | Spending):
            match event:
                case ItemStarted():
                    self._progress.start(event)
                case Spending():
                    self._progress.spend(event)
                case _:
                    self._progress.add(event)
            if time.monotonic() - self._drawn > PAUSE:
                self._draw()

    def _draw(self) -> None:
        now = self._progress
        size = {"max": str(now.total), "value": str(now.done)} if now.total else {}
        running = f"running {now.running}" if now.running else ""
        told = " · ".join(filter(None, (now.counts, now.rate, now.left, now.spent, running)))
        self._show(element("div", element("progress", **size), " ", element("small", text(told))))
        self._drawn = time.monotonic()

    def _show(self, body: Markup) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(body.source), display_id=True)
        else:
            self._handle.update(HTML(body.source))
