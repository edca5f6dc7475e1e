"""Shows a run as one self-contained HTML file."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import msgspec

from misstep.core.results.comparison import Breakdown, Held
from misstep.core.results.report import Issue, RunReport
from misstep.core.results.summary import Run, Summary
from misstep.rendering.comparison import baseline_sentence
from misstep.rendering.html import assets, sections
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.markup import Markup, element, lines, text, together
from misstep.rendering.html.sections import about, in_one_line
from misstep.rendering.words import specs_in_short

TITLE = 120


class RunPage(msgspec.Struct, frozen=True):
    summary: Summary
    parts: tuple[Markup, ...] = ()  # its sections
    cases: CaseBundle | None = None  # those that can be opened
    run: Run | None = None  # how it was set up
    held: Held | None = None  # the comparison with its baseline
    sandboxes: tuple[str, ...] = ()  # those of the tools


class PartPage(msgspec.Struct, frozen=True):
    """The page of one part of a run, such as a finding; `before` and `behind` are ids of its neighbours."""

    id: str
    title: str
    parts: tuple[Markup, ...]
    before: str | None
    behind: str | None

    @classmethod
    def among(cls, ids: Sequence[str], own: str, title: str, parts: Iterable[Markup]) -> Self:
        """The page of the part `own`, with its neighbours among all of them."""
        around = [None, *ids, None]
        place = around.index(own)
        return cls(own, title, tuple(parts), around[place - 1], around[place + 1])


def run_page(shown: RunPage) -> str:
    return page(title_of(shown), tuple(run_parts(shown)), shown.cases)


def title_of(shown: RunPage) -> str:
    summary, run = shown.summary, shown.run
    on_tools = run is not None and run.purpose.kind.group == "tool"
    subject = specs_in_short(run.purpose.tools, TITLE) if run and on_tools else summary.agent
    name = f"{run.name} · " if run and run.name else ""
    return f"{name}{subject} · run {summary.run}"


def page(
    title: str, parts: Sequence[Markup], cases: CaseBundle | None = None, has_charts: bool = True
) -> str:
    """A page with these parts below its title, and the cases that its scripts show; it needs no network."""
    library = [assets.asset(assets.LIBRARY)] if cases and has_charts else []
    scripts = [*library, assets.script()]
    allowed = " ".join(map(assets.script_hash, scripts))
    policy = (  # these scripts and no others, nothing from elsewhere
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", text(title, TITLE)),
        element("link", rel="icon", href=assets.icon()),
        element("style", Markup(assets.style())),
    )
    main = element("main", element("h1", text(title, TITLE)), *parts, id="report")
    run = [element("script", Markup(script)) for script in scripts]
    ends = cases.held(*run) if cases else together(*run)
    body = element("body", main, element("footer", "made by misstep"), ends)
    return f"<!doctype html>\n{element('html', head, body, lang='en').source}\n"


def run_parts(shown: RunPage) -> Iterator[Markup]:
    """The page of a run below its title; a server uses the same in its own pages."""
    if run := shown.run:
        yield in_one_line(run)
    if shown.held:
        yield sections.baseline(shown.held)
    yield from shown.parts
    if run and not run.purpose.kind.has_cases:
        yield about(run, shown.sandboxes, shown.summary)


def planning_parts(
    summary: Summary,
    findings: Iterable[Markup] = (),
    breakdowns: Iterable[Breakdown] = (),
    cases: CaseBundle | None = None,
    headline: Markup | None = None,
) -> Iterator[Markup]:
    """The sections of a run on planning cases; a `headline` replaces the success rate."""
    rate = element("div", headline or sections.success(summary))
    yield element("div", rate, sections.counts(summary), class_="overview")
    yield from findings
    if cases:
        yield cases.section()
    yield from sections.breakdowns(breakdowns)


LONGEST_TITLE = 200  # characters


def outline(statement: RunReport) -> str:
    """The page of a report: what was judged, with all issues."""
    name = f"misstep {statement.command} · {statement.subject}"
    return page(f"{name} · run {statement.run}" if statement.run else name, tuple(_parts(statement)))


def _parts(statement: RunReport) -> Iterator[Markup]:
    counted = ", ".join(f"{count} {verdict}" for verdict, count in statement.counts.items() if count)
    yield element("p", f"{statement.total} {statement.unit}s: {counted or 'nothing was judged'}")
    for told in (statement.unfinished, baseline_sentence(statement.held) if statement.held else ""):
        if told:
            yield element("p", told)
    for entry in statement.entries(None):
        reason = [element("p", text(entry.reason))] if entry.reason else []
        flaws = [
            element("details", element("summary", text(flaw.title, LONGEST_TITLE)), *_flaw(flaw))
            for flaw in entry.flaws
        ]
        waiting = [element("p", text(told.words), class_="dim") for told in entry.unconfirmed]
        title = element("h2", text(f"{entry.name}: {entry.verdict}", LONGEST_TITLE))
        yield element("section", title, *reason, *flaws, *waiting)


def _flaw(flaw: Issue) -> Iterator[Markup]:
    yield element("p", text(flaw.text))
    told = [flaw.misstep, *flaw.calls, *(f"{name}: {said}" for name, said in flaw.details.items())]
    if any(told):
        yield element("pre", lines("\n".join(filter(None, told))))
    if flaw.replay:
        yield element("pre", lines(flaw.replay))
