"""Shows the tables of the PDoctor paper, its own figures next to the measured ones."""

from collections.abc import Mapping, Sequence
from itertools import islice, zip_longest

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.results.diagnosis import CAUSES
from misstep.features.capability.view import (
    PublishedAgent,
    capability_plot,
    how_far_table,
    load_paper,
    published_levels,
)
from misstep.features.papers.pdoctor import Effectiveness, Replication
from misstep.rendering.comparison import finding
from misstep.rendering.layout import bare_table
from misstep.rendering.terminal import KINDS, Column, counted_column, percent, shares_table
from misstep.rendering.text import plain
from misstep.rendering.words import agent_name

TOP = 5
TOPIC = 200  # characters


def paper_view(replication: Replication) -> RenderableType:
    if replication.question == "rq1":
        table = _effectiveness_table(replication.effectiveness)
        return _titled("Table 2: errors found in a given time", table)
    timed, curves = replication.question == "rq3", replication.capabilities
    # The paper publishes no curve in numbers, and no levels for timed problems.
    levels = () if timed else published_levels()
    plot = Group(capability_plot(curves, levels), Text(), how_far_table(curves, levels))
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


def _comparable(agents: Sequence[str]) -> list[PublishedAgent]:
    """The paper's agents of the same paradigms; all of them if there are none."""
    everyone = load_paper().agent
    return [other for other in everyone if other.paradigm in agents] or list(everyone)


def _topics_table(topics: Mapping[str, int]) -> Table:
    published = load_paper().topics
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
