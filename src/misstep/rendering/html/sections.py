"""Sections of a page that runs share: setup, results, and the comparison of two runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from misstep.core.outcome import JUDGEMENTS
from misstep.core.results.comparison import Breakdown, Comparison, Held, TaskComparison
from misstep.core.results.summary import Run, Summary
from misstep.core.spending import AGENT
from misstep.rendering.comparison import (
    PLURALS,
    baseline_sentence,
    conclusion,
    efforts,
    finding,
    note_on_p,
    rates,
)
from misstep.rendering.html.markup import Cell, Markup, Row, element, grid, pairs, text, tiles, together
from misstep.rendering.terminal import baselines_in_words, easy_lines, from_to, in_and_out, money, percent
from misstep.rendering.text import plain
from misstep.rendering.words import interval, listed, method_in_words, p_value, points, sentence

MOST = 1_000  # characters


def in_one_line(run: Run) -> Markup:
    settings = run.settings
    sizes = f"{settings.actions} actions" if not settings.cases else "cases from a file"
    problems = (sizes, ", ".join(settings.family)) if run.purpose.kind.has_cases else ()
    tags = (" ".join(f"#{tag}" for tag in run.tags),) if run.tags else ()
    told = (f"misstep {run.purpose.command}", *problems, f"seed {settings.seed}", _when(run), *tags)
    return element("p", text(" · ".join(told), MOST), class_="dim")


def about(run: Run, sandboxes: Iterable[str], summary: Summary) -> Markup:
    """What was tested, when, within which limits, and what it cost."""
    told = [*_setup(run, summary.model or ""), ("sandbox", "; ".join(sorted({*filter(None, sandboxes)})))]
    settings, budget = run.settings, run.settings.budget
    limits = {"USD": budget.usd, "tokens": budget.tokens, "s": budget.seconds, "calls": budget.calls}
    allowed = [f"{limit:,g} {unit}" for unit, limit in limits.items() if limit is not None]
    if run.purpose.kind.group == "tool":
        calls = settings.calls_per_tool
        most = "" if settings.time_per_tool else "at most "
        allowed += [f"{calls:,} calls per tool" if calls else f"{most}{settings.tool_seconds:,g} s per tool"]
    told += [("limits", ", ".join(allowed)), ("took", f"{summary.seconds:,.0f} s of work")]
    rows: list[tuple[str, Cell]] = [(name, text(value, MOST)) for name, value in told if value]
    if summary.tokens.input or summary.tokens.output:
        rows.append(("tokens", in_and_out(summary.tokens)))
        rows.append(("cost", money(summary.usd, summary.model)))
    return page_section("Setup", pairs(rows))


def _setup(run: Run, model: str) -> Iterator[tuple[str, str]]:
    settings, purpose = run.settings, run.purpose
    yield "tools", ", ".join(purpose.tools)
    yield "command", f"misstep {purpose.command}{method_in_words(settings, purpose)}"
    yield "started", _when(run)
    yield "agent", settings.agent
    if settings.agent:
        yield "model", model
        roles = {role: model for role, model in settings.model_roles.items() if role != AGENT}
        yield "other models", ", ".join(f"{role}: {model}" for role, model in roles.items())
    yield "seed", str(settings.seed)


def _when(run: Run) -> str:
    return datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M %Z")


NAME = 200  # of an agent or a model, in characters
PORTIONS = 20


def page_section(title: str, *parts: Markup | str) -> Markup:
    return element("section", element("h2", title), *parts)


def success(summary: Summary, unit: str = "case") -> Markup:
    """The rate with its interval and the chance level, as a drawing and in words."""
    judged = summary.passed + summary.failed
    if summary.success is None:
        return element("p", f"No {unit} was judged, so there is no success rate.")
    words = f"{summary.passed} of {judged} judged {unit}s passed; 95 % interval {from_to(summary.interval)}"
    chance = "" if summary.chance is None else f"; chance level {percent(summary.chance)}"
    if summary.baselines:
        chance += f"; baselines: {baselines_in_words(summary.baselines)}"
    return together(
        element("p", percent(summary.success), element("small", " passed"), class_="rate"),
        _scale(summary.success, summary.interval, summary.chance),
        element("p", f"{words}{chance}."),
        *(element("p", line) for line in easy_lines(summary.chance)[:1]),
    )


def baseline(held: Held) -> Markup:
    said = sentence(baseline_sentence(held))
    return element("p", element("b", text(said), class_="bad") if held.regressed else text(said))


def _scale(rate: float, interval: tuple[float, float], chance: float | None) -> Markup:
    """From 0 to 100 %: the rate, its interval, and a dotted line at the chance level."""
    low, high = interval
    at = _along(chance or 0)
    luck = [] if chance is None else [element("line", x1=at, x2=at, y1=2, y2=26, class_="luck")]
    return element(
        "svg",
        element("rect", x="0%", y=10, width="100%", height=8, rx=4, class_="track"),
        element("rect", x=_along(low), y=10, width=_along(high - low), height=8, rx=4, class_="band"),
        *luck,
        element("circle", cx=_along(rate), cy=14, r=6, class_="here"),
        element("text", "0 %", x="0%", y=36),
        element("text", "100 %", x="100%", y=36, text_anchor="end"),
        class_="scale",
        aria_hidden="true",
    )


def _along(share: float) -> str:
    return f"{100 * share:.2f}%"


def counts(summary: Summary) -> Markup:
    rows: list[tuple[str, Cell]] = []
    if summary.model:
        rows.append(("model", text(summary.model, NAME)))
    rows.append(("cases", f"{summary.cases:,}"))
    for verdict in JUDGEMENTS:
        count: int = getattr(summary, verdict)
        if count or verdict in ("passed", "failed"):
            style = {"passed": "", "failed": "bad"}.get(verdict, "unsure") if count else ""
            rows.append((verdict, element("span", f"{count:,}", class_=style)))
    rows.append(("calls", f"{summary.calls:,}"))
    rows.append(("time on cases", f"{summary.seconds:,.1f} s"))
    if summary.tokens.input or summary.tokens.output:
        rows.append(("tokens", in_and_out(summary.tokens)))
        rows.append(("cost", money(summary.usd, summary.model)))
    return tiles(rows)


def breakdowns(given: Iterable[Breakdown]) -> Iterator[Markup]:
    """A section for each breakdown that found a difference; the others fold into one line."""
    dull = list[Breakdown]()
    for each in given:
        if any(part.significant for part in each.portions):
            yield page_section(PLURALS[each.by].capitalize(), _portions(each, "open"))
        else:
            dull.append(each)
    if dull:
        named = listed([PLURALS[each.by] for each in dull], len(dull))
        told = element("summary", f"No significant differences between {named}")
        yield element("section", element("details", told, *[_portions(each) for each in dull]))


def _portions(breakdown: Breakdown, opened: str = "") -> Markup:
    rows = [
        Row(
            (
                text(each.value, NAME),
                f"{each.cases:,}",
                f"{each.failed:,}",
                percent(each.success),
                interval(each.interval),
                p_value(each.p),
            ),
            "bad" if each.significant else "",
        )
        for each in breakdown.portions[:PORTIONS]
    ]
    hidden = len(breakdown.portions) - len(rows)
    more = [element("p", f"… and {hidden} more.", class_="dim")] if hidden else []
    headings = (breakdown.by, "cases", "failed", "success", "95 % interval", "p")
    table = grid(headings, rows, names=0 if breakdown.by == "actions" else 1)
    state = {"open": opened} if opened else {}
    numbers = element("details", element("summary", "The numbers"), table, *more, **state)
    return together(element("p", sentence(finding(breakdown))), numbers)


SHOWN = 100  # cases of each kind
REQUEST = 600  # characters
HEADING = 30


class ComparedRun(msgspec.Struct, frozen=True):
    """One of two runs that are compared: its id, what it is called on the page, and its address."""

    id: str
    name: str
    path: str


def comparison_parts(
    comparison: Comparison | TaskComparison,
    sides: tuple[ComparedRun, ComparedRun],
    requests: Mapping[str, str],
    part_path: Callable[[str, str], str],
) -> Iterator[Markup]:
    """The conclusion, its numbers, and the cases that changed, with their requests and links to them."""
    unit = "tasks" if isinstance(comparison, TaskComparison) else "cases"
    pairing = comparison.pairing
    names = sides[0].name, sides[1].name
    said = conclusion(comparison, unit, names)
    said = f"{said}." if said.startswith(names) else sentence(said)
    yield element("p", points(pairing.difference), element("small", " points"), class_="rate")
    yield element("p", element("b", text(said)), f" {pairing.cases:,} {unit} in common.")
    yield pairs((side.name, element("a", f"run {side.id}", href=side.path)) for side in sides)
    for name, cases in zip(names, (comparison.lost, comparison.won), strict=True):
        if cases:
            title = f"Only {name} passed: {len(cases):,} {unit if len(cases) > 1 else unit[:-1]}"
            yield page_section(title, _changed(cases, sides, requests, part_path))
    short = [plain(name, HEADING) for name in names]
    crossing = [
        Row((text(f"{short[0]} passed"), f"{pairing.both:,}", f"{pairing.first_only:,}")),
        Row((text(f"{short[0]} failed"), f"{pairing.second_only:,}", f"{pairing.neither:,}")),
    ]
    table = grid(("", f"{short[1]} passed", f"{short[1]} failed"), crossing)
    yield page_section(f"{unit.capitalize()} in common", table, *_rates(comparison, unit, short))


def _rates(comparison: Comparison | TaskComparison, unit: str, names: Sequence[str]) -> Iterator[Markup]:
    heading, parts = rates(comparison)
    headings = (heading, unit, *names, "difference", "95 % interval", "p")
    yield grid(headings, [Row(row) for row in parts])
    yield element("p", note_on_p(heading, len(parts) - 1), class_="caption")
    if isinstance(comparison, TaskComparison):
        yield grid(("to a task", *names), [Row(row) for row in efforts(comparison)])


def _changed(
    cases: Sequence[str],
    sides: tuple[ComparedRun, ComparedRun],
    requests: Mapping[str, str],
    part_path: Callable[[str, str], str],
) -> Markup:
    """Each case with its request and links to both outcomes."""

    def item(name: str) -> Markup:
        asked = element("p", text(requests.get(name) or name, REQUEST))
        ways = [
            element("a", side.name, href=part_path(side.id, name), aria_label=f"{name} in {side.name}")
            for side in sides
        ]
        return element("li", asked, element("code", text(name), class_="dim"), " ", ways[0], " ", ways[1])

    more = [element("li", f"… and {len(cases) - SHOWN:,} more", class_="dim")] if len(cases) > SHOWN else []
    return element("ul", *map(item, cases[:SHOWN]), *more, class_="changed")
