"""Repeats the experiments of the PDoctor paper, and shows its tables with the measured figures."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice, zip_longest
from typing import Any, Literal

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.case import Case
from misstep.core.event import Listener
from misstep.core.results.capability import Capability
from misstep.core.results.comparison import Breakdown
from misstep.core.results.diagnosis import CAUSES, Dissection
from misstep.core.results.summary import Summary
from misstep.core.run import FixedSuite, RunSpec
from misstep.core.settings import Settings, Span, StoreSettings
from misstep.core.settings.reading import check_settings
from misstep.errors import BudgetExceeded, Interrupted, UsageError
from misstep.features.capability import view as capability_view
from misstep.features.capability.run import measure_capability, view_capability
from misstep.features.dissect.run import dissect, view_dissection
from misstep.planning.synthesis.suite import make_case
from misstep.rendering.comparison import finding
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import KINDS, Column, counted_column, percent, shares_table
from misstep.rendering.text import plain
from misstep.rendering.words import agent_name
from misstep.runs.cases import suite_of
from misstep.runs.compare import break_down
from misstep.runs.lifecycle import RunWork, lasting, start
from misstep.runs.setup.agents import check_agent
from misstep.store.runs import Store

Question = Literal["rq1", "rq2", "rq3"]


class Effectiveness(msgspec.Struct, frozen=True):
    """What an agent did in a given time, as in Table 2.

    `seconds` is the total time, `synthesis_seconds` the part of it that synthesis took.
    """

    summary: Summary
    synthesis_seconds: float
    seconds: float


class Replication(msgspec.Struct, frozen=True):
    """What `misstep paper RQ --json` prints: the results of each agent for the question.

    `topics` counts the failures caused by a topic, for all agents together; `breakdowns` lists for each agent
    the topics on which it fails more often than on others.
    """

    question: Question
    effectiveness: tuple[Effectiveness, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    dissections: tuple[Dissection, ...] = ()
    topics: Mapping[str, int] = {}
    breakdowns: tuple[Breakdown, ...] = ()


LIKELY = 1000  # cases within the time, for an estimate

_LIMITS: dict[str, Any] = {"timeout": 180.0, "max_steps": 50, "parallel": "ordered", "threshold": 0.2}
_PLAIN: dict[str, Any] = {
    "family": ("order",),
    "timed": False,
    "tools": "",
    "distractors": 0,
    "difficulty": (),
}
_CASES: dict[str, Any] = {"cases": "", "count": None, "exhaustive": False, "per_pair": 20, "most_cases": 300}
_CAUSES: dict[str, Any] = {"full": True, "adaptive": False, "method": "pdoctor", "sample": 100}
_COMMON = {**_LIMITS, **_PLAIN, **_CASES}

# The settings of section 6; the command line can change each of them.
PRESETS: Mapping[Question, Mapping[str, Any]] = {
    "rq1": {**_COMMON, "actions": Span(3, 5), "budget_time": 3600.0},
    "rq2": {**_COMMON, **_CAUSES, "actions": Span(2, 9)},
    "rq3": {**_COMMON, **_CAUSES, "actions": Span(2, 5), "timed": True},
}


def detect_errors(several: Sequence[Settings], *listeners: Listener) -> Replication:
    """The first question: test each agent for a given time."""
    _check_all(several)
    return Replication("rq1", tuple(_detect(settings, listeners) for settings in several))


def examine_agents(
    question: Question, several: Sequence[Settings], used: Sequence[str], *listeners: Listener
) -> Replication:
    """The other two: measure how many actions each agent can plan and why it fails.

    `used` are finished runs of `plan capability` that are reused, with their newest dissections.
    """
    settings = several[0]
    measured = [_stored_curve(settings, run) for run in used]
    _check_all([each for each in several if each.agent])
    dissected = list[Dissection]()
    try:
        for each in several:
            measured += [measure_capability(each, *listeners)] if each.agent else []
        dissected += [_dissected(settings, curve, listeners) for curve in measured]
    except (Interrupted, BudgetExceeded) as error:
        uses = "".join(f" --use {curve.run}" for curve in measured)
        way = f"then, with all finished curves: misstep paper {question}{uses} --use RUN …"
        raise type(error)(error.message, *error.hints, way) from error
    return Replication(
        question,
        capabilities=tuple(measured),
        dissections=tuple(dissected),
        topics=_blamed_topics(settings, dissected),
        breakdowns=tuple(break_down(settings, curve.run, "topic") for curve in measured),
    )


def _check_all(several: Sequence[Settings]) -> None:
    """Check all agents first, so that a missing one is not found after hours."""
    for settings in several:
        check_agent(check_settings(settings))


def _stored_curve(settings: StoreSettings, name: str) -> Capability:
    with Store(settings.store) as store:
        run = store.find_run(name)
    if run.purpose.verb != "capability" or not run.summary:
        raise UsageError(f"run {run.id} is not a finished run of plan capability", where="--use")
    return view_capability(settings, run.id)


def _dissected(settings: Settings, curve: Capability, listeners: Sequence[Listener]) -> Dissection:
    """The newest finished dissection of a run by the same method, or a new one."""
    with Store(settings.store) as store:
        for run in store.list_runs():
            purpose, same = run.purpose, run.settings.method == settings.method
            if run.summary and same and (purpose.verb, purpose.run) == ("dissect", curve.run):
                return view_dissection(settings, run.id)
    own = settings.overlay({"agent": "", "python": ""})  # those of the curve's run
    return dissect(own, curve.run, (), *listeners)


def _detect(settings: Settings, listeners: Sequence[Listener]) -> Effectiveness:
    settings = lasting(check_settings(settings))
    suite, synthesis_seconds = suite_of(settings), 0.0
    limit = settings.budget_time or PRESETS["rq1"]["budget_time"]

    def cases() -> Iterator[Case]:
        return (make_case(suite, index) for index in count())

    def timed(end: float) -> Iterator[Case]:
        nonlocal synthesis_seconds
        for index in count():
            start_of_case = time.perf_counter()
            case = make_case(suite, index)
            synthesis_seconds += time.perf_counter() - start_of_case
            if time.monotonic() >= end:
                return
            yield case

    # The run should end normally when the time is over, so the time is not set as a budget.
    timeless = settings.overlay({"budget_time": None})
    work = RunWork(
        lambda _: FixedSuite(timed(time.monotonic() + limit)), cases, most=LIKELY, purpose=RunSpec("paper")
    )
    began = time.monotonic()
    summary = start(timeless, work, listeners, None)
    return Effectiveness(summary, round(synthesis_seconds, 3), round(time.monotonic() - began, 3))


def _blamed_topics(settings: StoreSettings, dissected: Sequence[Dissection]) -> dict[str, int]:
    """The topics of failures that were caused by the topic, the most frequent first."""
    found = Counter[str]()
    with Store(settings.store) as store:
        for dissection in dissected:
            for failure in dissection.failures:
                if failure.cause == "topic":
                    found[store.find_outcome(dissection.of, failure.case).case.topic] += 1
    return dict(found.most_common())


TOP = 5
TOPIC = 200  # characters


def paper_view(replication: Replication) -> RenderableType:
    if replication.question == "rq1":
        table = _effectiveness_table(replication.effectiveness)
        return _titled("Table 2: errors found in a given time", table)
    timed, curves = replication.question == "rq3", replication.capabilities
    # The paper publishes no curve in numbers, and no levels for timed problems.
    levels = () if timed else capability_view.published_levels()
    plot = Group(
        capability_view.capability_plot(curves, levels), Text(), capability_view.how_far_table(curves, levels)
    )
    errors = [counted_column(each, each.errors) for each in curves]
    errors += _published(replication, "timed_errors" if timed else "errors")
    causes = [counted_column(each, each.causes) for each in replication.dissections]
    causes += _published(replication, "timed_causes" if timed else "causes")
    parts = [
        _titled(f"Figure {9 if timed else 8}: success by the number of actions", plot),
        _titled(
            f"Table {6 if timed else 3}: kinds of errors within the capability limit",
            shares_table("error", KINDS, errors),
        ),
        _titled(f"Table {7 if timed else 4}: causes of errors", shares_table("cause", CAUSES, causes)),
    ]
    if not timed:
        named = zip(curves, replication.breakdowns, strict=True)
        tests = [Text(f"{agent_name(curve)}: {finding(each)}") for curve, each in named]
        parts.append(_titled("Table 5: topics to blame", Group(_topics_table(replication.topics), *tests)))
    return Group(*parts)


def _titled(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold"), body)


def _effectiveness_table(rows: Sequence[Effectiveness]) -> RenderableType:
    table = _table("agent", "generated", "errors", "synthesis", "agent time")
    for row in rows:
        summary = row.summary
        judged = summary.passed + summary.failed
        table.add_row(
            Text(agent_name(summary)),
            f"{summary.cases:,}",
            f"{summary.failed:,} ({percent(summary.failed / judged if judged else None)})",
            _clock(row.synthesis_seconds),
            _clock(row.seconds - row.synthesis_seconds),
        )
    for other in _comparable([row.summary.agent for row in rows]):
        share = percent(other.failed / other.generated)
        table.add_row(
            Text(f"paper: {other.framework}, {other.model}", style="dim"),
            f"{other.generated:,}",
            f"{other.failed:,} ({share})",
            _clock(other.synthesis_seconds),
            _clock(other.agent_seconds),
        )
    note = "No solver is called: misstep uses bitsets where the paper uses Z3."
    return Group(table, Text(note, style="dim"))


def _published(replication: Replication, what: str) -> list[Column]:
    agents = [curve.agent for curve in replication.capabilities]
    found = {f"paper: {o.framework} {o.model}": getattr(o, what) for o in _comparable(agents)}
    return [Column(name, shares, style="dim") for name, shares in found.items() if shares]


def _comparable(agents: Sequence[str]) -> list[capability_view.PublishedAgent]:
    """The paper's agents of the same paradigms; all of them if there are none."""
    everyone = capability_view.load_paper().agent
    return [other for other in everyone if other.paradigm in agents] or list(everyone)


def _topics_table(topics: Mapping[str, int]) -> Table:
    published = capability_view.load_paper().topics
    headings = [heading for model in published for heading in (f"paper: {model}", "errors")]
    table = _table("topic", "errors", *headings)
    columns = [list(islice(counts.items(), TOP)) for counts in (topics, *published.values())]
    for cells in zip_longest(*columns, fillvalue=("", "")):
        table.add_row(*(Text(plain(str(cell), TOPIC)) for pair in cells for cell in pair))
    return table


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0.0, seconds), 60)
    return f"{int(minutes):02}:{rest:05.2f}"


def _table(first: str, *others: str) -> Table:
    table = bare_table()
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(Text(heading), justify="right")
    return table
