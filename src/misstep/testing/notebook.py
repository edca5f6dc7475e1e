"""Renders the result of a test as HTML for notebooks, and as text for test failures and logs."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from io import StringIO

import msgspec
from rich.console import Console, RenderableType

from misstep.core.case import Difficulty
from misstep.core.outcome import Outcome
from misstep.core.results.finding import Cause, FuzzReport
from misstep.core.results.summary import Summary
from misstep.features.tool_fuzz.view import (
    calls_each,
    found,
    fuzz_view,
    headline,
    history,
    in_all,
    other_places,
    validation_in_words,
)
from misstep.rendering.case import case_view
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.layout import Trimmed
from misstep.rendering.terminal import baselines_in_words, counted, easy_lines, percent, summary_table
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.rendering.words import written

WIDTH = 100


class Again(msgspec.Struct, frozen=True):
    """Commands to look into a run: `show` for all of it; a case's replay is `before`, its id, `after`."""

    show: str
    before: str
    after: str = ""

    def one(self, name: str) -> str:
        return f"{self.before}{name}{self.after}"


def planning_text(summary: Summary, shown: Sequence[tuple[Outcome, Difficulty]], again: Again) -> str:
    """Counts and rate, the first cases that did not pass, and what to type next."""
    parts = [as_text(summary_table(summary))]
    for outcome, difficulty in shown:
        parts += [as_text(case_view(outcome, difficulty)), f"again: {again.one(outcome.case.id)}"]
    if rest := summary.cases - summary.passed - len(shown):
        parts.append(f"{counted(rest, 'more case')} did not pass")
    return "\n\n".join([*parts, f"all of it: {again.show}"])


def tools_text(report: FuzzReport, again: Again) -> str:
    """A line for each tool, then each finding with its minimal reproducer."""
    commands = [f"  again: {again.one(finding.id)}" for finding in (*report.findings, *report.unconfirmed)]
    # Commands must not be wrapped.
    width = max(WIDTH, *map(len, commands)) if commands else WIDTH
    return as_text(fuzz_view(report, again.before.removesuffix("/"), again.after), width)


def as_text(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colours, wrapped to a width."""
    written = StringIO()
    Console(file=written, width=width, color_system=None, legacy_windows=False).print(Trimmed(view))
    return written.getvalue().strip("\n")


NAME = 200  # characters
REQUEST = 8_000
ARGUMENTS = 300
MOST_CALLS = 50
HEADINGS = ("tool", "calls", "found", "refused", "calls each", "estimated in all")


def planning_html(summary: Summary, failures: Sequence[Outcome], again: Again) -> str:
    """Success with its interval and the chance level, then some cases that did not pass."""
    rest = summary.cases - summary.passed - len(failures)
    more = [element("p", f"{counted(rest, 'more case')} did not pass.", class_="dim")] if rest else []
    return _piece(
        element("p", element("b", percent(summary.success), class_="rate"), f" of {_judged(summary)} passed"),
        *_scale(summary),
        element("p", text(_counts(summary)), class_="dim"),
        *[_case(outcome, again) for outcome in failures],
        *more,
        _command(again.show),
    )


def tools_html(report: FuzzReport, again: Again) -> str:
    """A row for each tool, then each finding with its minimal reproducer."""
    rows = [
        Row(
            (
                text(tool.name, NAME),
                f"{tool.calls:,}",
                found(tool).plain,
                f"{tool.refused:,}",
                calls_each(tool),
                in_all(tool),
            )
        )
        for tool in report.tools
    ]
    return _piece(
        element("p", element("b", headline(report), class_="bad" if report.findings else "good")),
        element("p", text(validation_in_words(report), REQUEST), class_="dim"),
        grid(HEADINGS, rows),
        *[_finding(cause, again) for cause in report.causes],
        _command(again.show),
    )


def _piece(*parts: Markup) -> str:
    style = (files("misstep.rendering") / "data" / "notebook.css").read_text("utf-8")
    return element("div", Markup(f"<style>{style}</style>"), *parts, class_="misstep-result").source


def _judged(summary: Summary) -> str:
    return counted(summary.passed + summary.failed, "judged case")


def _counts(summary: Summary) -> str:
    low, high = summary.interval
    kinds = [f"{kind} {count}" for kind, count in summary.errors.items() if count]
    unjudged = [
        f"{count} {name}"
        for name, count in (("inconclusive", summary.inconclusive), ("errored", summary.errored))
        if count
    ]
    said = [
        plain(f"{summary.agent}, {summary.model}" if summary.model else summary.agent, NAME),
        f"95 % interval {percent(low)} to {percent(high)}",
        f"blind luck would reach {percent(summary.chance)}",
        *([f"baselines: {baselines_in_words(summary.baselines)}"] if summary.baselines else []),
        *easy_lines(summary.chance)[:1],
        *([f"failures: {', '.join(kinds)}"] if kinds else []),
        *unjudged,
    ]
    return " · ".join(said)


def _scale(summary: Summary) -> Iterator[Markup]:
    """From 0 to 100 %: the rate, its interval, and a vertical line at the chance level."""
    if summary.success is None:
        return
    (low, high), chance = summary.interval, summary.chance
    parts = [
        element("i", class_="band", style=f"left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"),
        element("i", class_="here", style=f"left:{100 * summary.success:.2f}%"),
    ]
    if chance is not None:
        parts.append(element("i", class_="luck", style=f"left:{100 * chance:.2f}%"))
    yield element("div", *parts, class_="scale", aria_hidden="true")


def _case(outcome: Outcome, again: Again) -> Markup:
    case, verdict = outcome.case, outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    kind = element("b", verdict.error or verdict.verdict, class_="bad")
    topic = element("span", f" · {plain(case.topic, NAME)}", class_="dim")
    parts = [
        element("summary", kind, f"{step} · ", element("code", text(case.id, NAME)), topic),
        element("pre", lines(case.query, REQUEST)),
        _calls(outcome),
    ]
    if verdict.explanation:
        parts.append(element("p", text(verdict.explanation)))
    if verdict.nearest:
        tools = {action.id: plain(action.tool, NAME) for action in case.actions}
        order = " → ".join(tools[action] for action in verdict.nearest)
        parts.append(element("p", "nearest correct plan: ", element("code", text(order))))
    return element("details", *parts, _command(again.one(case.id)))


def _calls(outcome: Outcome) -> Markup:
    calls, step = outcome.transcript.calls, outcome.verdict.step
    if not calls:
        return element("p", "no calls", class_="dim")
    items = [
        element(
            "li",
            element("code", written(call.tool, call.arguments, ARGUMENTS)),
            *([element("b", " ← misstep", class_="bad")] if number == step else []),
        )
        for number, call in enumerate(calls[:MOST_CALLS], 1)
    ]
    left = len(calls) - MOST_CALLS
    more = [element("p", f"… {left:,} more calls", class_="dim")] if left > 0 else []
    return element("div", element("ol", *items), *more)


def _finding(cause: Cause, again: Again) -> Markup:
    finding = cause.findings[0]
    kind = element("b", finding.kind, class_="bad")
    where = element("span", f" · {plain(finding.where, NAME)}", class_="dim") if finding.where else ""
    head = element("summary", kind, " ", text(finding.error, NAME), " · ", text(finding.tool, NAME), where)
    calls = element("pre", lines("\n".join(map(written_call, finding.calls))))
    told = (finding.message, finding.why, history(finding), *other_places(cause))
    said = [element("p", text(each)) for each in told if each]
    return element("details", head, calls, *said, _command(again.one(finding.id)))


def _command(command: str) -> Markup:
    return element("pre", element("code", text(command)))
