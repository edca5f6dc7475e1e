"""A listener that sends a trace of each case and task to an OTLP endpoint."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from misstep.core.event import CaseFinished, Event, Listener, RunStarted, TaskJudged
from misstep.core.secrets import Redactor
from misstep.core.settings import Settings
from misstep.interop.episodes import EpisodeAgent
from misstep.interop.otlp import Sender
from misstep.runs.execution import known_secrets
from misstep.runs.lookup import find_run
from misstep.runs.setup.models import name_model


@contextmanager
def traced(settings: Settings, tell: Callable[[str], None]) -> Iterator[list[Listener]]:
    """No listener if no endpoint is given; `tell` is called once if the endpoint does not work."""
    if not settings.otlp:
        yield []
        return
    sender = Sender(settings.otlp, settings.otlp_content, lambda text: tell(Redactor(known_secrets())(text)))
    try:
        yield [_Tracer(settings, sender)]
    finally:
        sender.close()


class _Tracer:
    def __init__(self, settings: Settings, sender: Sender) -> None:
        self._settings = settings
        self._sender = sender
        self._agent: EpisodeAgent | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._agent = agent_of(event.run, find_run(self._settings, event.run).settings)
        elif self._agent and isinstance(event, CaseFinished):
            self._sender.send(self._agent, event.outcome, time.time() - event.outcome.seconds)
        elif self._agent and isinstance(event, TaskJudged):
            self._sender.send(self._agent, event.report, time.time() - event.report.seconds)


def agent_of(run: str, settings: Settings) -> EpisodeAgent:
    model = name_model(settings)
    return EpisodeAgent(
        run=run,
        name=settings.agent,
        model=model.model if model else "",
        provider=model.provider if model else "",
        version=_version(),
    )


def _version() -> str:
    try:
        return version("misstep")
    except PackageNotFoundError:
        return ""
