"""A run, stored or not, as a statement that all reports are made of."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from misstep.core.event import Unit
from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import Held
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ToolReport, causes_of
from misstep.core.results.fixing import FixReport
from misstep.core.results.remark import LintReport
from misstep.core.results.report import ReportItem, ReportItems, RunReport
from misstep.core.run import BENCHMARKS, INQUIRIES, ON_TOOLS, UNITS, RunKind
from misstep.core.settings import Settings
from misstep.features.dissect.run import view_dissection
from misstep.features.shrink.run import view_reduction
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.words import specs_in_short
from misstep.runs.execution import masked
from misstep.runs.lookup import RunView, view_run
from misstep.runs.reporting.entries import (
    Home,
    cases,
    crossed,
    diagnosed,
    entry_of,
    fix_item,
    fuzzed,
    linted,
    questioned,
    spot_of_agent,
    task_entry,
)
from misstep.runs.summary import verdict_on
from misstep.store.location import way_to
from misstep.store.runs import Store

T = TypeVar("T", ToolReport, ConsistencyReport, GroupReport, FixReport, TaskReport)
_UNITS: dict[str, Unit] = {"tools": "tool", "groups": "group", "tasks": "task"}


def state(settings: Settings, name: str, held: Held | None = None, passed: bool | None = None) -> RunReport:
    """A stored run, as far as it has come."""
    view = view_run(settings, name, 0)
    run, place = view.run, way_to(settings.store)
    entries, counts = _entries(settings, view, Home(run, place))
    on_tools = run.purpose.verb in ON_TOOLS
    return RunReport(
        run=run.id,
        command=run.purpose.command,
        subject=specs_in_short(run.purpose.tools) if on_tools else plain(run.settings.agent, 300),
        model=plain(view.summary.model or "", 300),
        unit=_UNITS.get(UNITS.get(run.purpose.verb, ""), "case"),
        started=run.started,
        seconds=view.summary.seconds,
        counts=counts,
        entries=entries,
        families=_families(run.purpose.verb),
        summary=None if run.purpose.verb in INQUIRIES else view.summary,
        unfinished=_unfinished(view),
        held=held,
        passed=passed,
        place=place,
    )


def state_lint(report: LintReport, specs: Sequence[str], passed: bool, seconds: float) -> RunReport:
    """What was said about the documentation of tools, of which nothing is stored."""
    entries = [masked(linted(tool)) for tool in report.tools]
    return RunReport(
        run="",
        command="tool lint",
        subject=specs_in_short(specs),
        model="",
        unit="tool",
        started=time.time() - seconds,
        seconds=seconds,
        counts=_count(entries),
        entries=_of(entries),
        families=("lint",),
        passed=passed,
    )


def _entries(settings: Settings, view: RunView, home: Home) -> tuple[ReportItems, dict[Judgement, int]]:
    run = view.run
    if run.purpose.verb in (*ON_TOOLS, *BENCHMARKS, *INQUIRIES):
        known = [masked(entry) for entry in _few(settings, home)]
        return _of(known), _count(known)

    def read(verdict: Judgement | None) -> Iterator[ReportItem]:
        return map(masked, cases(settings, home, verdict))

    return read, {verdict: getattr(view.summary, verdict) for verdict in JUDGEMENTS}


def _few(settings: Settings, home: Home) -> Iterator[ReportItem]:
    """The entries of runs that have no more of them than fit into memory."""
    run = home.run
    if run.purpose.verb == "dissect":
        found = view_dissection(settings, run.id)
        yield from (diagnosed(each, found.of, home) for each in found.failures)
    elif run.purpose.verb == "shrink":
        yield from _shrunk(settings, home)
    else:
        with Store(settings.store) as store:
            yield from _tested(store, home)


def _shrunk(settings: Settings, home: Home) -> Iterator[ReportItem]:
    found = view_reduction(settings, home.run.id)
    if found and found.outcome:
        yield entry_of(found.outcome, home, spot_of_agent(home))
    elif found:
        verdict: Judgement = "passed" if found.tried else "inconclusive"
        yield ReportItem(found.case.id, found.case.id, found.case.topic, verdict, reason=found.complaint)


def _tested(store: Store, home: Home) -> Iterable[ReportItem]:
    run = home.run
    specs = list(run.purpose.tools)
    match run.purpose.verb:
        case "fuzz":
            reports = _weightiest_first(_ordered(store.tool_documents(run.id, ToolReport)))
            found = causes_of(finding for each in reports for finding in each.findings)
            causes = {cause.id: cause for cause in found}
            return [fuzzed(each, verdict_on(each), home, causes) for each in reports]
        case "consistency":
            sets = store.tool_documents(run.id, ConsistencyReport)
            return [questioned(each, specs, home) for each in _ordered(sets)]
        case "crosstalk":
            groups = store.tool_documents(run.id, GroupReport)
            return [crossed(each, specs, home) for each in _ordered(groups)]
        case "fix":
            return [fix_item(each, home) for each in _ordered(store.tool_documents(run.id, FixReport))]
        case _:
            tasks = store.tool_documents(run.id, TaskReport)
            return [task_entry(each, home) for each in _ordered(tasks)]


def _ordered(reports: list[T]) -> list[T]:
    """As they stand in their run: the order in which they were kept is left to chance."""
    return sorted(reports, key=lambda report: report.place)


def _weightiest_first(reports: list[ToolReport]) -> list[ToolReport]:
    """By the worst of their findings, then those without any: a list that is cut keeps what matters."""
    broken = [report for report in reports if report.findings]
    broken.sort(key=lambda report: min(finding.weight for finding in report.findings))
    return [*broken, *(report for report in reports if not report.findings)]


def _of(entries: Sequence[ReportItem]) -> ReportItems:
    return lambda verdict: [entry for entry in entries if verdict in (None, entry.verdict)]


def _count(entries: Sequence[ReportItem]) -> dict[Judgement, int]:
    counts = Counter(entry.verdict for entry in entries)
    return {verdict: counts[verdict] for verdict in JUDGEMENTS}


def _families(verb: RunKind) -> tuple[str, ...]:
    """The families of rules that a run of this kind may have broken."""
    if verb in ON_TOOLS:
        return ("tool",)
    if verb in BENCHMARKS:
        return ("bench",)
    return ("cause",) if verb == "dissect" else ("plan",)


def _unfinished(view: RunView) -> str:
    run = view.run
    if run.summary:
        return ""
    unit = UNITS.get(run.purpose.verb, "cases")
    done = f"{run.done} of {run.total} {unit}" if run.total else counted(run.done, unit.removesuffix("s"))
    return f"the run {'is going on' if view.live else 'has not come to its end'}: {done}"
