"""A stored run written for other tools to read.

Whether Inspect is there.

A stored run as a table: what its rows are depends on what the run was made of.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import IO, Any, Literal, TypeVar

import msgspec

from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.fixing import FixReport
from misstep.core.results.report import Format, Written
from misstep.core.run import BENCHMARKS, ON_TOOLS
from misstep.core.settings import Settings
from misstep.errors import MissingExtra, UsageError
from misstep.interop import tables
from misstep.interop.episodes import Episode, episode_of_case, episode_of_task
from misstep.interop.otlp import otlp_json, spans_of
from misstep.interop.tables import Row, Subject, check_parquet, csv_lines, write_parquet
from misstep.runs.budget import may_price, price_of
from misstep.runs.lookup import summary_of
from misstep.runs.reporting.tracing import agent_of
from misstep.runs.setup.models import model_name
from misstep.store.files import opened
from misstep.store.runs import Run, Store


def check_inspect() -> None:
    if find_spec("inspect_ai") is None:
        raise MissingExtra("Inspect", "inspect")


class Table(msgspec.Struct, frozen=True):
    """The rows of a run, one after the other; `kind` is what all of them are."""

    run: str
    kind: type[Row]
    rows: Iterator[Row]


def table_of(store: Store, name: str) -> Table:
    """The rows come while the store is open."""
    run = store.find_run(name)
    price = price_of(run.settings) if may_price(run) else lambda *_: None
    subject = Subject(run.id, run.settings.agent, model_name(run.settings), price)
    verb = run.purpose.verb
    if verb == "fuzz":
        reports = store.tool_reports(run.id)
        return Table(
            run.id, tables.FindingRow, (row for each in reports for row in tables.finding_rows(subject, each))
        )
    if verb == "consistency":
        sets = store.tool_documents(run.id, ConsistencyReport)
        return Table(run.id, tables.SetRow, (row for each in sets for row in tables.set_rows(subject, each)))
    if verb == "crosstalk":
        groups = store.tool_documents(run.id, GroupReport)
        return Table(run.id, tables.GroupRow, (tables.group_row(subject, each) for each in groups))
    if verb == "fix":
        fixes = store.tool_documents(run.id, FixReport)
        return Table(run.id, tables.FixRow, (tables.fix_row(subject, each) for each in fixes))
    if verb in BENCHMARKS:
        tasks = store.tool_documents(run.id, TaskReport)
        return Table(run.id, tables.TaskRow, (tables.task_row(subject, each) for each in tasks))
    return Table(run.id, tables.CaseRow, (tables.case_row(subject, each) for each in store.outcomes(run.id)))


T = TypeVar("T")
# Settings that say where a run was kept and shown, and nothing about the run.
ELSEWHERE = (
    "display",
    "fail_on",
    "json",
    "otlp",
    "otlp_content",
    "out",
    "report",
    "report_dir",
    "resume",
    "store",
)


class Counter:
    """How many have gone by."""

    def __init__(self) -> None:
        self.count = 0

    def watch(self, values: Iterable[T]) -> Iterator[T]:
        for value in values:
            self.count += 1
            yield value


def write_csv(settings: Settings, run: str) -> Written:
    def write(file: IO[bytes], table: Table, counter: Counter) -> None:
        file.writelines(csv_lines(table.kind, counter.watch(table.rows)))

    return _write_table(settings, run, "csv", write)


def write_parquet_file(settings: Settings, run: str) -> Written:
    check_parquet()

    def write(file: IO[bytes], table: Table, counter: Counter) -> None:
        write_parquet(file, table.kind, counter.watch(table.rows))

    return _write_table(settings, run, "parquet", write)


def _write_table(
    settings: Settings,
    name: str,
    form: Literal["csv", "parquet"],
    write: Callable[[IO[bytes], Table, Counter], None],
) -> Written:
    counter = Counter()
    with Store(settings.store) as store:
        table = table_of(store, name)
        with opened(settings.out) as file:
            write(file, table, counter)
    return Written(table.run, form, settings.out, counter.count)


def write_otlp(settings: Settings, name: str) -> Written:
    """Traces as lines of OTLP/JSON. When each case began is not kept: they all begin with their run."""
    counter, encoder = Counter(), msgspec.json.Encoder()
    with Store(settings.store) as store:
        run = store.find_run(name)
        agent = agent_of(run.id, run.settings)
        with opened(settings.out) as file:
            for episode in counter.watch(_episodes(store, run, "otlp")):
                spans = spans_of(agent, episode, run.started, settings.otlp_content)
                file.write(encoder.encode(otlp_json(agent, spans)) + b"\n")
    return Written(run.id, "otlp", settings.out, counter.count)


def write_inspect(settings: Settings, name: str) -> Written:
    check_inspect()
    from misstep.interop.inspect_log import Campaign, write_log

    with Store(settings.store) as store:
        run = store.find_run(name)
        summary = summary_of(store, run)
        campaign = Campaign(
            agent=agent_of(run.id, run.settings),
            task=f"misstep/{run.purpose.command.replace(' ', '-')}",
            started=run.started,
            ended=run.started + summary.seconds,
            is_complete=run.summary is not None,
            settings=_telling(run.settings),
            about={"summary": msgspec.to_builtins(summary)},
        )
        with opened(settings.out) as file:
            samples = write_log(file, campaign, _episodes(store, run, "inspect"))
    return Written(run.id, "inspect", settings.out, samples)


def _episodes(store: Store, run: Run, form: Format) -> Iterator[Episode]:
    """What agents did in a run, in the order in which it was kept."""
    if run.purpose.verb in BENCHMARKS:
        return map(episode_of_task, store.tool_documents(run.id, TaskReport))
    if run.purpose.verb in ON_TOOLS:
        raise UsageError(
            f"run {run.id} is one of {run.purpose.command}, which has no episodes of an agent",
            f"--format {form} takes runs on planning and benchmarks; csv and parquet take all",
        )
    return map(episode_of_case, store.outcomes(run.id))


def _telling(settings: Settings) -> dict[str, Any]:
    """The settings that are not as they always are."""
    usual = msgspec.to_builtins(Settings(), enc_hook=str)
    own = msgspec.to_builtins(settings, enc_hook=str)
    return {name: value for name, value in own.items() if value != usual[name] and name not in ELSEWHERE}
