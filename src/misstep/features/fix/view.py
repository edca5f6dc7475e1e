"""Shows improved tool descriptions on the terminal, as JSON and in the HTML page."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.results.descriptions import Wording
from misstep.core.results.fixing import ORIGINAL, Candidate, FixReport, FixRun, Part, Standing
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, pairs, text
from misstep.rendering.html.sections import page_section
from misstep.rendering.layout import Trimmed, numbers_table, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import plain, plain_lines
from misstep.rendering.trial import picked
from misstep.rendering.words import interval

MOST = 300  # characters of a text in a list
WHOLE = 20_000
HEADINGS = ("passed", "failed", "not\njudged", "rate", "95 % interval", "steps", "tokens")


def fix_view(run: FixRun, diffs: Mapping[str, str], most: int = 20) -> RenderableType:
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
    for each in [each for each in report.candidates if each.wording is None][:most]:
        said = f"candidate {_titled(each)}: {each.why or 'nothing was proposed'}"
        parts.append(Text(plain(said, MOST), style="dim"))
    style = "green" if report.is_better else "yellow"
    parts.append(Text(f"\n{outcome_in_words(report)}", style=style))
    duel = report.duel
    if duel is not None and duel.lost:
        requests = {each.id: each.request for each in report.trying}
        lost = [Text(plain(requests[each], MOST)) for each in duel.lost[:most]]
        more = [Text(f"… and {len(duel.lost) - most} more", style="dim")] if len(duel.lost) > most else []
        parts.append(section("passed before, fails now", Group(*lost, *more)))
    if diff:
        styles = {"+": "green", "-": "red", "@": "dim"}
        changed = plain_lines(diff, WHOLE).split("\n")
        coloured = [Text(line, style=styles.get(line[:1], "")) for line in changed]
        parts.append(section("what changes", Padding(Group(*coloured), 0)))
    return Group(*parts)


def _table(report: FixReport) -> Table:
    table = numbers_table("words", HEADINGS, min_width=10)
    for part, rows in standings(report):
        table.add_row(f"{part}:", style="dim")
        for cells, marked in rows:
            table.add_row(*cells, style="bold" if marked else "")
    return table


def standings(report: FixReport) -> Iterator[tuple[Part, list[tuple[tuple[str, ...], bool]]]]:
    """For each part, the candidates' scores for `HEADINGS`; the important ones are marked."""
    chosen = report.chosen
    tested: list[tuple[Part, list[Candidate]]] = [("validation", report.usable)]
    if chosen is not None and report.made(ORIGINAL, "test"):
        tested.append(("test", [chosen]))
    for part, candidates in tested:
        rows = [("its own", ORIGINAL), *[(_titled(each), each.number) for each in candidates]]
        best = chosen.number if chosen else None
        scored = [(number, (name, *_row(report.standing(number, part)))) for name, number in rows]
        yield part, [(cells, part == "test" or number == best) for number, cells in scored]


def _row(standing: Standing) -> tuple[str, ...]:
    rate = standing.rate
    ends = interval(rate.interval) if rate.judged else "–"
    steps = "–" if standing.steps is None else f"{standing.steps:.1f}"
    tokens = "–" if standing.tokens is None else f"{standing.tokens:,.0f}"
    counts = f"{rate.passed:,}", f"{rate.failed:,}", f"{rate.unjudged:,}"
    return *counts, percent(rate.rate), ends, steps, tokens


def outcome_in_words(report: FixReport) -> str:
    if report.ended != "done":
        return "stopped early: nothing is proved yet"
    if report.verdict == "inconclusive":
        return "none of the agent's runs could be judged: nothing is proved"
    duel, chosen = report.duel, report.chosen
    if duel is None or chosen is None:
        return "no candidate did better than the tool's own description"
    told = f"{len(duel.gained)} gained, {len(duel.lost)} lost, p = {duel.p:.3g} (exact McNemar)"
    if duel.is_better:
        return f"candidate {_titled(chosen)} is better on the held-out part: {told}"
    return f"candidate {_titled(chosen)} is no better on the held-out part: {told}; nothing to change"


def _titled(candidate: Candidate) -> str:
    return f"{candidate.number} ({candidate.strategy})"


def fix_as_json(run: FixRun, diffs: Mapping[str, str], override: str) -> dict[str, Any]:
    return {
        "run": run.run,
        "from": run.source,
        "specs": list(run.specs),
        "tools": [_tool_as_json(report, diffs.get(report.name, "")) for report in run.tools],
        "better": [report.tool for report in run.better],
        "override": override,
        **picked(run, "seconds", "usd"),
    }


def _tool_as_json(report: FixReport, diff: str) -> dict[str, Any]:
    duel, chosen = report.duel, report.chosen
    requests = {each.id: each.request for each in report.trying}
    return {
        **picked(report, "tool", "ended"),
        "better": report.is_better,
        "original": picked(report.original, "description", "parameters"),
        "candidates": [
            {
                **picked(each, "number", "strategy"),
                "description": each.wording.description if each.wording else None,
                "parameters": each.wording.parameters if each.wording else {},
                **picked(each, "why", "tried"),
                "validation": _standing(report, each.number, "validation") if each.wording else None,
            }
            for each in report.candidates
        ],
        "chosen": chosen.number if chosen else None,
        "validation": _standing(report, ORIGINAL, "validation"),
        "before": _standing(report, ORIGINAL, "test") if chosen else None,
        "after": _standing(report, chosen.number, "test") if chosen else None,
        "p": duel.p if duel else None,
        "gained": [requests[each] for each in duel.gained] if duel else [],
        "regressions": [requests[each] for each in duel.lost] if duel else [],
        "diff": diff,
        **picked(report, "notes", "seconds"),
    }


def _standing(report: FixReport, number: int, part: Part) -> dict[str, Any]:
    found = report.standing(number, part)
    return {
        **picked(found.rate, "passed", "judged", "rate", "interval", "inconclusive", "errored"),
        **picked(found, "steps", "tokens"),
    }


MOST_ON_PAGE = 4_000  # characters of a text


def wordings(run: FixRun, place: str) -> Iterator[Markup]:
    if run.better:
        yield element("p", "To apply the better descriptions:")
        yield element("pre", text(f"misstep tool fix --resume {run.run}{place} --write"), class_="command")
    for report in run.tools:
        outcome = element("p", text(f"{outcome_in_words(report)}."))
        yield page_section(report.tool, outcome, *_tool_on_page(report))


def _tool_on_page(report: FixReport) -> Iterator[Markup]:
    for part, rows in standings(report):
        headings = ("words", *(each.replace("\n", " ") for each in HEADINGS))
        yield grid(headings, [Row(cells) for cells, _ in rows], caption=part)
    for note in report.notes:
        yield element("p", text(note), class_="caption")
    yield _words("The tool's own description", report.original)
    chosen = report.chosen
    if chosen is not None:
        yield _words(f"Candidate {chosen.number}", report.words_of(chosen.number), opened=True)
    if report.duel is not None and report.duel.lost:
        requests = {each.id: each.request for each in report.trying}
        items = [element("li", text(requests[each], MOST_ON_PAGE)) for each in report.duel.lost]
        yield element("details", element("summary", "Passed before, fails now"), element("ul", *items))


def _words(title: str, wording: Wording, opened: bool = False) -> Markup:
    told = [("description", wording.description or ""), *wording.parameters.items()]
    shown = pairs((name, element("span", lines(said, MOST_ON_PAGE), class_="lines")) for name, said in told)
    return element("details", element("summary", text(title)), shown, **({"open": "open"} if opened else {}))
