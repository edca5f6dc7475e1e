"""Answers of tools to people who mean the same, in a page."""

from collections.abc import Iterator, Sequence

from misstep.core.consistency import Bucket, Buckets, ConsistencyRun, Evidence, PromptSet
from misstep.report.consistency import (
    HEADINGS,
    counts_of,
    nothing_failed,
    numbers_of,
    remarks,
    score_in_words,
)
from misstep.report.text import plain
from misstep.report.web.markup import Markup, element, lines, text
from misstep.report.web.sections import section
from misstep.report.web.tables import Row, grid

MOST = 4_000  # characters of a text


def faulty_sets(report: ConsistencyRun, place: str) -> Iterator[Markup]:
    """A row for each tool, then each set that failed, then those of which nobody knows.

    `place` is what a command needs to find the store.
    """
    rows = [Row((text(tool.name, 100), *counts_of(tool))) for tool in report.tools]
    told = [(tool.name, said) for tool in report.tools if (said := remarks(tool))]
    notes = [element("p", text(f"{name}: {'; '.join(said)}"), class_="caption") for name, said in told]
    yield section("Tools", grid(("tool", *HEADINGS), rows), *notes)
    failed = [(tool.name, each) for tool in report.tools for each in tool.faulty]
    if failed:
        shown = [_set(each, name, f"misstep replay {report.run}/{each.id}{place}") for name, each in failed]
        yield section("Sets that failed", *shown)
    else:
        yield element("p", text(nothing_failed(report.tools)))
    unclear = [(tool.name, each) for tool in report.tools for each in tool.having("inconclusive")]
    if unclear:
        rows = [Row((element("code", each.id), text(name, 100), text(each.why))) for name, each in unclear]
        yield section("Inconclusive", grid(("set", "tool", "why"), rows, names=3))


def _set(one: PromptSet, tool: str, again: str) -> Markup:
    failed = element("b", one.verdict, class_="bad")
    head = element("summary", failed, " ", text(tool, 100), " · ", text(one.template or one.why, MOST))
    requests = [element("li", text(request, MOST)) for request in one.requests]
    parts = [element("p", text(one.why, MOST)), element("ol", *requests), *_buckets(one.buckets, "")]
    if one.normalised is not None:
        parts += _buckets(one.normalised, ", what does not matter left out")
    if one.expectation is not None:
        heading = "Expected (a guess)" if one.expectation.guessed else "Expected"
        parts.append(element("p", f"{heading}: ", text(one.expectation.statement, MOST)))
    if one.scores:
        scores = [Row((str(each.request), text(score_in_words(each), MOST))) for each in one.scores]
        parts.append(grid(("request", "score"), scores, names=2))
    if one.evidence is not None:
        parts.append(_evidence(one.evidence))
    return element("details", head, *parts, element("pre", lines(plain(again)), class_="command"))


def _buckets(buckets: Buckets, how: str) -> Iterator[Markup]:
    for name, found in (("inputs", buckets.inputs), ("outputs", buckets.outputs)):
        if found:
            yield grid(("requests", name), _rows(found), names=2, caption=f"buckets of {name}{how}")


def _rows(found: Sequence[Bucket]) -> list[Row]:
    return [Row((numbers_of(each), _as_it_was(each.value))) for each in found]


def _as_it_was(value: str) -> Markup:
    """What a tool was given or gave back, call by call."""
    return element("span", lines(value, MOST), class_="lines")


def _evidence(evidence: Evidence) -> Markup:
    sides = [side for side in (evidence.wrong, evidence.right) if side is not None]
    rows = [
        Row((str(side.number), _as_it_was(side.inputs), _as_it_was(side.outputs), text(side.answer, MOST)))
        for side in sides
    ]
    return grid(("request", "input", "output", "answer"), rows, names=4, caption="the pair that shows it")
