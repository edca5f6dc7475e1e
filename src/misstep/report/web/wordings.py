"""Better words for tools, in a page."""

from collections.abc import Iterator

from misstep.core.descriptions import Wording
from misstep.core.fixing import FixReport, FixRun
from misstep.report.fixing import HEADINGS, outcome_in_words, standings
from misstep.report.web.markup import Markup, element, lines, text
from misstep.report.web.sections import section
from misstep.report.web.tables import Row, grid, pairs

MOST = 4_000  # characters of a text


def wordings(run: FixRun, place: str) -> Iterator[Markup]:
    """For each tool how well its candidates did, what came of it, the words before and after."""
    if run.better:
        yield element("p", "To put what is better in place:")
        yield element("pre", text(f"misstep tool fix --resume {run.run}{place} --write"), class_="command")
    for report in run.tools:
        yield section(report.tool, element("p", text(f"{outcome_in_words(report)}.")), *_tool(report))


def _tool(report: FixReport) -> Iterator[Markup]:
    for part, rows in standings(report):
        yield grid(
            ("words", *(each.replace("\n", " ") for each in HEADINGS)),
            [Row(cells) for cells, _ in rows],
            caption=part,
        )
    for note in report.notes:
        yield element("p", text(note), class_="caption")
    yield _words("What the tool says itself", report.original)
    chosen = report.chosen
    if chosen is not None:
        yield _words(f"Candidate {chosen.number}", report.words_of(chosen.number), opened=True)
    yield from _lost(report)


def _words(title: str, wording: Wording, opened: bool = False) -> Markup:
    told = [("description", wording.description or ""), *wording.parameters.items()]
    shown = pairs((name, element("span", lines(said, MOST), class_="lines")) for name, said in told)
    return element("details", element("summary", text(title)), shown, **({"open": "open"} if opened else {}))


def _lost(report: FixReport) -> Iterator[Markup]:
    duel = report.duel
    if duel is not None and duel.lost:
        requests = {each.id: each.request for each in report.trying}
        items = [element("li", text(requests[each], MOST)) for each in duel.lost]
        yield element("details", element("summary", "Passed before, fails now"), element("ul", *items))
