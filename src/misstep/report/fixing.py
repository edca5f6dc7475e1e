"""Better words for tools, as rich renderables."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.fixing import ORIGINAL, Candidate, FixReport, FixRun, Part, Standing
from misstep.report.layout import Trimmed, bare_table, section
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
    spent = Text(f"\n{calls}; {tokens:,} tokens{money}; {run.seconds:,.1f} s", style="dim")
    return Trimmed(Group(*parts, spent))


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
    """The name of each part in a line of its own, then a line for each that was tried on it."""
    table = bare_table()
    table.add_column("words", overflow="fold", min_width=10)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for part, rows in standings(report):
        table.add_row(f"{part}:", style="dim")
        for cells, marked in rows:
            table.add_row(*cells, style="bold" if marked else "")
    return table


def standings(report: FixReport) -> Iterator[tuple[Part, list[tuple[tuple[str, ...], bool]]]]:
    """For each part whose words did how well, below `HEADINGS`; those that matter most are marked."""
    chosen = report.chosen
    yield "validation", _standings(report, "validation", report.usable)
    if chosen is not None and report.made(ORIGINAL, "test"):
        yield "test", _standings(report, "test", [chosen])


def _standings(
    report: FixReport, part: Part, candidates: Sequence[Candidate]
) -> list[tuple[tuple[str, ...], bool]]:
    chosen = report.chosen.number if report.chosen else None
    rows = [("its own", ORIGINAL), *[(_titled(each), each.number) for each in candidates]]
    return [
        ((name, *_row(report.standing(number, part))), part == "test" or number == chosen)
        for name, number in rows
    ]


def _row(standing: Standing) -> tuple[str, ...]:
    rate = standing.rate
    ends = interval(rate.interval) if rate.judged else "–"
    steps = "–" if standing.steps is None else f"{standing.steps:.1f}"
    tokens = "–" if standing.tokens is None else f"{standing.tokens:,.0f}"
    counts = f"{rate.passed:,}", f"{rate.failed:,}", f"{rate.unjudged:,}"
    return *counts, percent(rate.rate), ends, steps, tokens


def _outcome(report: FixReport) -> Text:
    return Text(f"\n{outcome_in_words(report)}", style="green" if report.is_better else "yellow")


def outcome_in_words(report: FixReport) -> str:
    """Whether there are better words."""
    if report.ended != "done":
        return "stopped before its end: nothing is proved yet"
    if report.verdict == "inconclusive":
        return "nothing that the agent did could be judged: nothing is proved"
    duel, chosen = report.duel, report.chosen
    if duel is None or chosen is None:
        return "no candidate did better than what the tool says itself"
    told = f"{len(duel.gained)} gained, {len(duel.lost)} lost, p = {duel.p:.3g} (exact McNemar)"
    if duel.is_better:
        return f"{_named(chosen)} is better on what was held out: {told}"
    return f"{_named(chosen)} is no better on what was held out: {told}; nothing is to be changed"


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
