"""Shows a run as a short Markdown page, for the summary of a CI job."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from misstep.core.outcome import Judgement
from misstep.core.results.report import RunReport
from misstep.rendering.comparison import baseline_sentence
from misstep.rendering.terminal import baseline_rates, counted, from_to, percent
from misstep.rendering.text import plain
from misstep.rendering.words import listed

MOST = 10  # entries that are shown
MOST_READ = 500
MOST_FLAWS = 3  # of one entry
WHY = 300  # characters
CALL = 160
_UNCLEAR: tuple[Judgement, ...] = ("errored", "inconclusive")
_MARKS = re.compile(r"([\\`*_\[\]#!|~$]|\.(?=[^\W\d]))")  # some viewers link anything like a.com
# What viewers turn into links, mentions or references.
_LINKS = re.compile(r"\S*(?:://|www\.|@|#\d|mailto:)\S*", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def markdown(statement: RunReport) -> str:
    """Verdict, numbers, the first failures with the commands that replay them, and regressions."""
    parts = [_heading(statement), _numbers(statement)]
    if statement.held:
        parts.append(f"**Baseline:** {prose(baseline_sentence(statement.held), 1_000)}")
        if statement.held.regressed and statement.held.lost:
            parts.append(f"Lost: {listed([code(name) for name in statement.held.lost], MOST)}")
    if statement.unfinished:
        parts.append(f"**Note:** {prose(statement.unfinished)}")
    if statement.counts["failed"]:
        parts.append("\n".join(_failures(statement)))
    if statement.unit == "tool":
        parts += _asides(statement)
    parts += [_unjudged(statement, verdict) for verdict in _UNCLEAR if statement.counts[verdict]]
    return "\n\n".join(parts) + "\n\n"


def prose(text: str, most: int = WHY) -> str:
    """Foreign text in which nothing is markup, a link or HTML, in any position."""
    shown = plain(text, most)
    pieces, end = list[str](), 0
    for match in _LINKS.finditer(shown):
        pieces += [_escaped(shown[end : match.start()]), code(match[0], most)]
        end = match.end()
    return "".join([*pieces, _escaped(shown[end:])])


def code(text: str, most: int = CALL) -> str:
    """Foreign text to be typed or copied, as code that also works in a table."""
    shown = plain(text, most)
    if not shown.strip():
        return ""
    # In a table, code can hold only escaped pipes, which elsewhere would be shown with the escape.
    if "|" in shown or "\\" in shown:
        escaped = re.sub(r"([&<>\[\]()*_`~!|\\@:#^$=.\-])", lambda match: f"&#{ord(match[1])};", shown)
        return f"<code>{escaped}</code>"
    fence = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(shown)), default=0))
    edge = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def block(text: str, language: str = "") -> str:
    """Foreign text of several lines as a block of code, which nothing in it ends."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _escaped(text: str) -> str:
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", safe)


def _heading(statement: RunReport) -> str:
    failed = f"{statement.counts['failed']:,} of {counted(statement.total, statement.unit)} failed"
    word = {True: "passed", False: "failed", None: failed}[statement.passed]
    mark = {True: "✅ ", False: "❌ ", None: ""}[statement.passed]
    run = f" · run {code(statement.run)}" if statement.run else ""
    subject = code(statement.subject, 200)
    return f"### {mark}misstep {statement.command}: {word}\n\n{subject}{run}"


def _numbers(statement: RunReport) -> str:
    summary, counts = statement.summary, statement.counts
    cells = {f"{statement.unit}s": str(statement.total)}
    cells |= {verdict: str(count) for verdict, count in counts.items()}
    if summary and summary.success is not None:
        cells["success"] = percent(summary.success)
        cells["95 % interval"] = from_to(summary.interval)
    if summary and summary.chance is not None:
        cells["chance"] = percent(summary.chance)
    if summary and summary.baselines:
        cells |= baseline_rates(summary.baselines)
    return "\n".join(_row(line) for line in (cells.keys(), ["---:"] * len(cells), cells.values()))


def _failures(statement: RunReport) -> Iterator[str]:
    yield _row([statement.unit, "what", "why", "again"])
    yield _row(["---"] * 4)
    shown, left = 0, statement.counts["failed"]
    # A tool may have no flaw but those that are listed with others.
    most = MOST_READ if statement.unit == "tool" else MOST
    for entry in islice(statement.entries("failed"), most):
        flaws = [flaw for flaw in entry.flaws if not flaw.aside]
        left -= shown < MOST or not flaws
        if not flaws or shown == MOST:
            continue
        shown += 1
        for flaw in flaws[:MOST_FLAWS]:
            way = flaw.misstep or (flaw.calls[-1] if flaw.calls else "")
            why = [*(prose(line) for line in flaw.text.split("\n")), *([code(way)] if way else [])]
            yield _row([code(entry.name), prose(flaw.title, 120), "<br>".join(why), code(flaw.replay, 300)])
        if more := flaws[MOST_FLAWS:]:
            titles = listed([prose(flaw.title, 120) for flaw in more], MOST)
            yield _row([code(entry.name), f"… and {len(more)} more", titles, ""])
    if left:
        yield f"\n{_more(statement, left)}"


def _more(statement: RunReport, left: int) -> str:
    hint = f": {code(f'misstep show {statement.run}{statement.place}')}" if statement.run else ""
    return f"… and {left:,} more{hint}"


def _asides(statement: RunReport) -> Iterator[str]:
    """Folded lists of minor flaws, and of what was not confirmed."""
    entries = list(islice(statement.entries(None), MOST_READ))
    flaws = [(entry, flaw) for entry in entries for flaw in entry.flaws if flaw.aside == "minor"]
    minor = [
        f"{code(entry.name)}: {prose(flaw.title, 120)}, {code(flaw.replay, 300)}"
        for entry, flaw in flaws[:MOST]
    ]
    told = [each for entry in entries for each in entry.unconfirmed]
    waiting = [f"{prose(each.text)}, {code(each.replay, 300)}" for each in told[:MOST]]
    yield from _folded(statement, "minor", minor, len(flaws))
    yield from _folded(statement, "not confirmed", waiting, len(told))


def _folded(statement: RunReport, what: str, lines: Sequence[str], number: int) -> Iterator[str]:
    """The lines of the first ones, of this number."""
    if lines:
        left = number - len(lines)
        shown = [*lines, *([_more(statement, left)] if left else [])]
        items = "\n".join(f"- {line}" for line in shown)
        yield f"<details><summary>{number:,} {what}</summary>\n\n{items}\n\n</details>"


def _unjudged(statement: RunReport, verdict: Judgement) -> str:
    """How many could not be judged, and why the first of them could not."""
    first = next(iter(statement.entries(verdict)), None)
    why = f", the first: {prose(first.reason)}" if first and first.reason else ""
    return f"**{counted(statement.counts[verdict], statement.unit)} {verdict}**{why}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
