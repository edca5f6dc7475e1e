"""Writes a stored run for other tools (tables, Inspect logs, traces), and sends traces during a run."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, TypeVar

import msgspec

from misstep.core.event import CaseFinished, Event, Listener, RunStarted, TaskJudged
from misstep.core.results.report import Written
from misstep.core.secrets import Redactor
from misstep.core.settings import AgentRunSettings, RunSettings, Settings, StoreSettings, setting_names
from misstep.core.settings.reading import plain_settings
from misstep.errors import MissingExtra
from misstep.interop.episodes import EpisodeAgent
from misstep.interop.otlp import Sender, otlp_json, spans_of
from misstep.interop.tables import RowSubject, check_parquet, csv_lines, write_parquet
from misstep.runs.budget import may_price, price_of
from misstep.runs.execution import known_secrets
from misstep.runs.lookup import feature_of, find_run, summary_of
from misstep.runs.setup.models import model_name, name_model
from misstep.store.files import opened
from misstep.store.runs import Store

T = TypeVar("T")
# Settings about where a run was stored and shown, not about the run itself.
ELSEWHERE = setting_names("display fail_on json otlp otlp_content out report report_dir resume store")


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def watch(self, values: Iterable[T]) -> Iterator[T]:
        for value in values:
            self.count += 1
            yield value


def write_table(settings: RunSettings, name: str, form: Literal["csv", "parquet"]) -> Written:
    if form == "parquet":
        check_parquet()
    counter = Counter()
    with Store(settings.store) as store:
        run = store.find_run(name)
        price = price_of(run.settings) if may_price(run) else lambda *_: None
        subject = RowSubject(run.id, run.settings.agent, model_name(run.settings), price)
        table = feature_of(run.purpose).table(store, run, subject)
        rows = counter.watch(table.rows)
        with opened(settings.out) as file:
            if form == "csv":
                file.writelines(csv_lines(table.kind, rows))
            else:
                write_parquet(file, table.kind, rows)
    return Written(run.id, form, settings.out, counter.count)


def write_otlp(settings: AgentRunSettings, name: str) -> Written:
    """Write traces as lines of OTLP/JSON. Start times of cases are not stored: all start with their run."""
    counter, encoder = Counter(), msgspec.json.Encoder()
    with Store(settings.store) as store:
        run = store.find_run(name)
        agent = agent_of(run.id, run.settings)
        with opened(settings.out) as file:
            for episode in counter.watch(feature_of(run.purpose).episodes(store, run, "otlp")):
                spans = spans_of(agent, episode, run.started, settings.otlp_content)
                file.write(encoder.encode(otlp_json(agent, spans)) + b"\n")
    return Written(run.id, "otlp", settings.out, counter.count)


def write_inspect(settings: RunSettings, name: str) -> Written:
    if find_spec("inspect_ai") is None:
        raise MissingExtra("Inspect", "inspect")
    from misstep.interop.inspect_log import LoggedRun, write_log

    with Store(settings.store) as store:
        run = store.find_run(name)
        summary = summary_of(store, run)
        usual, own = plain_settings(Settings()), plain_settings(run.settings)
        own = {name: value for name, value in own.items() if name not in ELSEWHERE}
        campaign = LoggedRun(
            agent=agent_of(run.id, run.settings),
            task=f"misstep/{run.purpose.command.replace(' ', '-')}",
            started=run.started,
            ended=run.started + summary.seconds,
            is_complete=run.summary is not None,
            settings={name: value for name, value in own.items() if value != usual[name]},
            about={"summary": msgspec.to_builtins(summary)},
        )
        with opened(settings.out) as file:
            samples = write_log(file, campaign, feature_of(run.purpose).episodes(store, run, "inspect"))
    return Written(run.id, "inspect", settings.out, samples)


@contextmanager
def traced(settings: AgentRunSettings, tell: Callable[[str], None]) -> Iterator[list[Listener]]:
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
    def __init__(self, settings: StoreSettings, sender: Sender) -> None:
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


def agent_of(run: str, settings: AgentRunSettings) -> EpisodeAgent:
    model = name_model(settings)
    try:
        own = version("misstep")
    except PackageNotFoundError:
        own = ""  # it is not installed
    return EpisodeAgent(
        run=run,
        name=settings.agent,
        model=model.model if model else "",
        provider=model.provider if model else "",
        version=own,
    )
