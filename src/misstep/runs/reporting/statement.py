"""A run in the forms that it is written in: report, HTML page, JSON object, events."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from misstep.core.event import Event, RunFinished, RunStarted
from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.results.comparison import Held
from misstep.core.results.report import ReportItem, ReportItems, RunReport
from misstep.core.results.summary import RunView
from misstep.core.run import Unit
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.page import RunPage
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.words import specs_in_short
from misstep.runs.execution import masked
from misstep.runs.lookup import feature_of, view_run
from misstep.runs.reporting.items import ReportSource, cases
from misstep.store.location import way_to
from misstep.store.runs import Store


def state(
    settings: StoreSettings, name: str, held: Held | None = None, passed: bool | None = None
) -> RunReport:
    view = view_run(settings, name, 0)
    run, place = view.run, way_to(settings.store)
    entries, counts = _entries(settings, view, ReportSource(run, place))
    on_tools, unit = run.purpose.kind.group == "tool", run.purpose.kind.unit
    done = f"{run.done} of {run.total} {unit}s" if run.total else counted(run.done, unit)
    unfinished = f"the run {'is still running' if view.live else 'did not finish'}: {done}"
    return RunReport(
        run=run.id,
        command=run.purpose.command,
        subject=specs_in_short(run.purpose.tools) if on_tools else plain(run.settings.agent, 300),
        model=plain(view.summary.model or "", 300),
        unit=unit,
        started=run.started,
        seconds=view.summary.seconds,
        counts=counts,
        entries=entries,
        families=feature_of(run.purpose).rules,
        summary=None if run.purpose.kind.is_inquiry else view.summary,
        unfinished="" if run.summary else unfinished,
        held=held,
        passed=passed,
        place=place,
    )


def _entries(
    settings: StoreSettings, view: RunView, home: ReportSource
) -> tuple[ReportItems, dict[Judgement, int]]:
    items = feature_of(view.run.purpose).items(settings, home)
    if items is not None:
        known = [masked(item) for item in items]
        return items_of(known), count_verdicts(known)

    def read(verdict: Judgement | None) -> Iterator[ReportItem]:
        return map(masked, cases(settings, home, verdict))

    return read, {verdict: getattr(view.summary, verdict) for verdict in JUDGEMENTS}


def items_of(entries: Sequence[ReportItem]) -> ReportItems:
    return lambda verdict: [entry for entry in entries if verdict in (None, entry.verdict)]


def count_verdicts(entries: Sequence[ReportItem]) -> dict[Judgement, int]:
    counts = Counter(entry.verdict for entry in entries)
    return {verdict: counts[verdict] for verdict in JUDGEMENTS}


def page_of(settings: ViewSettings, name: str, cases: CaseBundle | None = None) -> RunPage:
    """A run with its cases; if all are listed, `cases` may be those that a server sends."""
    view = view_run(settings, name, 0)
    page = feature_of(view.run.purpose).page(settings, view.run, view.summary, cases)
    return replace(page, run=view.run)


def run_as_json(settings: StoreSettings, name: str) -> dict[str, Any]:
    view = view_run(settings, name, 0)
    return feature_of(view.run.purpose).as_json(settings, view.run, view.summary)


def retell(settings: StoreSettings, name: str, unit: Unit) -> Iterator[Event]:
    """The events as if the run had been done in one session; only a few are in memory at a time."""
    run = view_run(settings, name, 0).run
    yield RunStarted(run.id, run.total, {}, unit=unit)
    with Store(settings.store) as store:
        yield from feature_of(run.purpose).events(store, run)
    if run.summary:
        yield RunFinished(run.id, run.summary)
