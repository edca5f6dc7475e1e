"""Better words for tools, as rich renderables."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.fixing import ORIGINAL, Candidate, FixReport, FixRun, Part, Standing
from misstep.report.layout import bare_table, section
from misstep.report.statistics import interval
from misstep.report.terminal import counted, percent
from misstep.report.text import plain, plain_lines

MOST = 300  # characters of a text in a list
WHOLE = 20_000
HEADINGS = ("passed", "failed", "not\njudged", "rate", "95 % interval", "steps", "tokens")


def fix_view(run: FixRun, diffs: Mapping[str, str], most: int = 20) -> RenderableType:
    """For each tool how well each of its candidates did, what the best comes to, and what changes with it."""
    parts: list[RenderableType] = []
    for report in run.tools:
        parts += [*([Text()] if parts else []), _tool(report, diffs.get(report.name, ""), most)]
    tokens = sum(u.input + u.output for report in run.tools for u in report.usage.values())
    money = f", {run.usd:.4f} USD" if run.usd else ""
    calls = counted(sum(report.calls for report in run.tools), "call")
    return Group(*parts, Text(f"\n{calls}; {tokens:,} tokens{money}; {run.seconds:,.1f} s", style="dim"))


def _tool(report: FixReport, diff: str, most: int) -> RenderableType:
    parts: list[RenderableType] = [Text(plain(report.tool, 100), style="bold"), _table(report)]
    parts += [Text(plain(note, 1_000), style="dim") for note in report.notes]
    parts += [_unusable(each) for each in report.candidates if each.wording is None][:most]
    parts.append(_outcome(report))
    duel = report.duel
    if duel is not None and duel.lost:
        requests = {each.id: each.request for each in report.trying}
        lost = [Text(plain(requests[each], MOST)) for each in duel.lost[:most]]
        more = [Text(f"… and {len(duel.lost) - most} more", style="dim")] if len(duel.lost) > most else []
        parts.append(section("passed before, fails now", Group(*lost, *more)))
    if diff:
        parts.append(section("what changes", _coloured(diff)))
    return Group(*parts)


def _table(report: FixReport) -> Table:
    table = bare_table()
    table.add_column("words", overflow="fold", min_width=10)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    chosen = report.chosen
    _add_part(table, report, "validation", report.usable)
    if chosen is not None and report.made(ORIGINAL, "test"):
        _add_part(table, report, "test", [chosen])
    return table


def _add_part(table: Table, report: FixReport, part: Part, candidates: Sequence[Candidate]) -> None:
    """The name of a part in a line of its own, then a line for each that was tried on it."""
    chosen = report.chosen.number if report.chosen else None
    table.add_row(f"{part}:", style="dim")
    rows = [("its own", ORIGINAL), *[(_titled(each), each.number) for each in candidates]]
    for name, number in rows:
        style = "bold" if part == "test" or number == chosen else ""
        table.add_row(name, *_row(report.standing(number, part)), style=style)


def _row(standing: Standing) -> tuple[str, ...]:
    rate = standing.rate
    ends = interval(rate.interval) if rate.judged else "–"
    steps = "–" if standing.steps is None else f"{standing.steps:.1f}"
    tokens = "–" if standing.tokens is None else f"{standing.tokens:,.0f}"
    counts = f"{rate.passed:,}", f"{rate.failed:,}", f"{rate.unjudged:,}"
    return *counts, percent(rate.rate), ends, steps, tokens


def _outcome(report: FixReport) -> Text:
    if report.ended != "done":
        return Text("\nstopped before its end: nothing is proved yet", style="yellow")
    if report.verdict == "inconclusive":
        return Text("\nnothing that the agent did could be judged: nothing is proved", style="yellow")
    duel, chosen = report.duel, report.chosen
    if duel is None or chosen is None:
        return Text("\nno candidate did better than what the tool says itself", style="yellow")
    told = f"{len(duel.gained)} gained, {len(duel.lost)} lost, p = {duel.p:.3g} (exact McNemar)"
    if duel.is_better:
        return Text(f"\n{_named(chosen)} is better on what was held out: {told}", style="green")
    text = f"\n{_named(chosen)} is no better on what was held out: {told}; nothing is to be changed"
    return Text(text, style="yellow")


def _named(candidate: Candidate) -> str:
    return f"candidate {_titled(candidate)}"


def _titled(candidate: Candidate) -> str:
    return f"{candidate.number} ({candidate.strategy})"


def _unusable(candidate: Candidate) -> Text:
    return Text(plain(f"{_named(candidate)}: {candidate.why or 'nothing was proposed'}", MOST), style="dim")


def _coloured(diff: str) -> RenderableType:
    styles = {"+": "green", "-": "red", "@": "dim"}
    lines = plain_lines(diff, WHOLE).split("\n")
    return Padding(Group(*[Text(line, style=styles.get(line[:1], "")) for line in lines]), 0)
