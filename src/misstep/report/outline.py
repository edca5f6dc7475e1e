"""A run as a plain page, where there is none of its own kind."""

from collections.abc import Iterator

from misstep.core.run_report import Issue, ReportItem, RunReport
from misstep.report.baseline import held_in_words
from misstep.report.page import page
from misstep.report.web.markup import Markup, element, lines, text

TITLE = 200  # characters


def outline(statement: RunReport) -> str:
    """What was judged, with all that is wrong with it."""
    name = f"misstep {statement.command} · {statement.subject}"
    return page(f"{name} · run {statement.run}" if statement.run else name, tuple(_parts(statement)))


def _parts(statement: RunReport) -> Iterator[Markup]:
    counted = ", ".join(f"{count} {verdict}" for verdict, count in statement.counts.items() if count)
    yield element("p", f"{statement.total} {statement.unit}s: {counted or 'nothing was judged'}")
    for told in (statement.unfinished, held_in_words(statement.held) if statement.held else ""):
        if told:
            yield element("p", told)
    for entry in statement.entries(None):
        yield element("section", element("h2", text(f"{entry.name}: {entry.verdict}", TITLE)), *_entry(entry))


def _entry(entry: ReportItem) -> Iterator[Markup]:
    if entry.reason:
        yield element("p", text(entry.reason))
    for flaw in entry.flaws:
        yield element("details", element("summary", text(flaw.title, TITLE)), *_flaw(flaw))


def _flaw(flaw: Issue) -> Iterator[Markup]:
    yield element("p", text(flaw.text))
    told = [flaw.misstep, *flaw.calls, *(f"{name}: {said}" for name, said in flaw.details.items())]
    if any(told):
        yield element("pre", lines("\n".join(filter(None, told))))
    if flaw.replay:
        yield element("pre", lines(flaw.replay))
