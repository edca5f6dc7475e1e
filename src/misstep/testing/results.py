"""The results of tests of objects: as values, as HTML for notebooks and as text for failures and logs."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from io import StringIO
from typing import Any

import msgspec
from rich.console import Console, RenderableType

from misstep.core.agent import Agent
from misstep.core.case import Baselines
from misstep.core.outcome import Outcome
from misstep.core.results.finding import Cause, Finding
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.core.stats import wilson
from misstep.errors import UsageError
from misstep.features.tool_fuzz import view as fuzz_views
from misstep.planning.difficulty import measure
from misstep.rendering import terminal
from misstep.rendering.case import case_view
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.page import page
from misstep.rendering.layout import Trimmed
from misstep.rendering.text import plain
from misstep.rendering.trial import written_call
from misstep.rendering.words import agent_name, written
from misstep.runs.executor import replay_case
from misstep.runs.lookup import view_run
from misstep.runs.reporting.case_bundles import bundle_of_some
from misstep.store.runs import Store
from misstep.testing.subjects import away_from_loops


class PassDemand(msgspec.Struct, frozen=True):
    """The minimum share of cases that have to pass; cases that cannot be judged don't pass.

    If `significant`, a run falls short only if its whole 95 % interval does.
    """

    min_success: float = 1.0
    significant: bool = False

    def shortfall(self, summary: Summary) -> str:
        """How a run falls short, in words, without what its result shows; empty if it does not."""
        asked, cases = self.min_success, summary.cases
        rate = summary.passed / cases if cases else 0.0
        reached = wilson(summary.passed, cases)[1] if self.significant else rate
        if reached >= asked:
            return ""
        unjudged = summary.inconclusive + summary.errored
        if unjudged and (summary.success is None or summary.success >= asked):
            return f"{unjudged} of {cases} cases could not be judged; {terminal.percent(asked)} must pass"
        head = f"success is {terminal.percent(summary.success)}, required {terminal.percent(asked)}"
        luck = "the interval includes the required rate: run more cases to be sure"
        return f"{head}\n{luck}" if summary.interval[1] >= asked else head


DEMANDS = PassDemand.__struct_fields__


def parse_demand(given: Mapping[str, Any], where: str) -> PassDemand:
    """The demand in keyword arguments. Raises `UsageError` for invalid values."""
    own = {name: given[name] for name in DEMANDS if name in given}
    least = own.get("min_success", 1.0)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise UsageError(f"invalid min_success {least!r}", "expected a number from 0 to 1", where=where)
    if not isinstance(own.get("significant", False), bool):
        raise UsageError(f"invalid significant {own['significant']!r}", "expected True or False", where=where)
    return PassDemand(**own)


class Again(msgspec.Struct, frozen=True):
    """Commands to look into a run: `show` for all of it; a case's replay is `before`, its id, `after`."""

    show: str
    before: str
    after: str = ""

    def one(self, name: str) -> str:
        return f"{self.before}{name}{self.after}"


SHOWN = 2  # failed cases shown in full
FOLDED = 10  # the same if each can be expanded
WIDTH = 100
NAME = 200  # characters
REQUEST = 8_000
ARGUMENTS = 300
MOST_CALLS = 50
HEADINGS = ("tool", "calls", "found", "refused", "calls each", "estimated total")


class PlanningResult(msgspec.Struct, frozen=True, eq=False):
    """The result of testing an agent. It is stored as a run, and cases are looked up in the store."""

    summary: Summary
    settings: Settings
    agent: Agent | None  # None if the settings name it
    again: Again

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.summary.run

    @property
    def success(self) -> float | None:
        """The share of judged cases that passed; None if none could be judged."""
        return self.summary.success

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success rate."""
        return self.summary.interval

    @property
    def chance(self) -> float | None:
        """The chance level on these cases."""
        return self.summary.chance

    @property
    def baselines(self) -> Baselines | None:
        """What agents that don't plan would reach on these cases: text order, and ignoring the family."""
        return self.summary.baselines

    @property
    def failures(self) -> list[Outcome]:
        """All cases that failed."""
        with Store(self.settings.store) as store:
            return list(store.outcomes(self.run, "failed"))

    def replay(self, case: str) -> Outcome:
        """Run a case again, given by its id or the start of it; the outcome is not stored."""
        with Store(self.settings.store) as store:
            before = store.find_outcome(self.run, case)
        return away_from_loops(lambda _: replay_case(before.case, self.settings, self.agent))

    def __repr__(self) -> str:
        told = self.summary
        return (
            f"PlanningResult(run={told.run!r}, agent={told.agent!r}, cases={told.cases},"
            f" success={told.success}, interval={told.interval}, failed={told.failed})"
        )

    def __str__(self) -> str:
        """Counts and rate, the first cases that did not pass, and what to type next."""
        shown = view_run(self.settings, self.run, SHOWN).failures
        parts = [as_text(terminal.summary_view(self.summary))]
        for outcome in shown:
            replay = f"Replay: {self.again.one(outcome.case.id)}"
            parts += [as_text(case_view(outcome, measure(outcome.case))), replay]
        if rest := self._count_rest(shown):
            parts.append(f"{rest} did not pass")
        return "\n\n".join([*parts, f"Show all: {self.again.show}"])

    def _repr_html_(self) -> str:
        """Success with its interval and the chance level, then some cases that did not pass."""
        summary, failures = self.summary, view_run(self.settings, self.run, FOLDED).failures
        rest = self._count_rest(failures)
        rate = element("b", terminal.percent(summary.success), class_="rate")
        judged = terminal.counted(summary.passed + summary.failed, "judged case")
        return _piece(
            element("p", rate, f" of {judged} passed"),
            *_scale(summary),
            element("p", text(_counts(summary)), class_="dim"),
            *([_pictures(bundle_of_some(self.settings, self.run, failures))] if failures else []),
            *[_case(outcome, self.again) for outcome in failures],
            *([element("p", f"{rest} did not pass.", class_="dim")] if rest else []),
            _command(self.again.show),
        )

    def _count_rest(self, shown: Sequence[Outcome]) -> str:
        """How many more cases did not pass, in words."""
        rest = self.summary.cases - self.summary.passed - len(shown)
        return terminal.counted(rest, "more case") if rest else ""


class ToolsResult(msgspec.Struct, frozen=True, eq=False):
    """The result of testing tools. It is stored as a run."""

    summary: Summary
    report: FuzzReport
    settings: Settings
    again: Again

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.report.run

    @property
    def findings(self) -> list[Finding]:
        """Defects, each with the smallest calls that show it."""
        return self.report.findings

    def __repr__(self) -> str:
        report = self.report
        calls = sum(tool.calls for tool in report.tools)
        names = [tool.name for tool in report.tools]
        found = len(report.findings)
        return f"ToolsResult(run={report.run!r}, tools={names}, calls={calls}, findings={found})"

    def __str__(self) -> str:
        """A line for each tool, then each finding with its minimal reproducer."""
        report, again = self.report, self.again
        shown = (*report.findings, *report.unconfirmed)
        # Commands must not be wrapped.
        width = max([WIDTH, *(len(f"  Replay: {again.one(finding.id)}") for finding in shown)])
        return as_text(fuzz_views.fuzz_view(report, again.before.removesuffix("/"), again.after), width)

    def _repr_html_(self) -> str:
        """A row for each tool, then each finding with its minimal reproducer."""
        report = self.report
        rows, state = list[Row](), "bad" if report.findings else "good"
        for tool in report.tools:
            counts = f"{tool.calls:,}", fuzz_views.found(tool).plain, f"{tool.refused:,}"
            estimates = fuzz_views.calls_each(tool), fuzz_views.in_all(tool)
            rows.append(Row((text(tool.name, NAME), *counts, *estimates)))
        return _piece(
            element("p", element("b", fuzz_views.headline(report), class_=state)),
            element("p", text(fuzz_views.validation_in_words(report), REQUEST), class_="dim"),
            grid(HEADINGS, rows),
            *self._defects(),
            _command(self.again.show),
        )

    def _defects(self) -> Iterator[Markup]:
        """The causes; folded, minor ones, and what was not confirmed."""
        folded = dict[str, list[Markup]]()
        for cause in self.report.causes:
            shown = _finding(cause, self.again)
            if cause.findings[0].is_minor:
                folded.setdefault(fuzz_views.MINOR, []).append(shown)
            else:
                yield shown
        waiting = [_finding(Cause("", (each,)), self.again) for each in self.report.unconfirmed]
        folded |= {fuzz_views.UNCONFIRMED: waiting} if waiting else {}
        for words, parts in folded.items():
            yield element("details", element("summary", f"{len(parts)} {words}"), *parts)


def as_text(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colours, wrapped to a width."""
    written = StringIO()
    Console(file=written, width=width, color_system=None, legacy_windows=False).print(Trimmed(view))
    return written.getvalue().strip("\n")


def _pictures(cases: CaseBundle) -> Markup:
    """The cases as a report shows them, in a frame whose scripts can't reach the notebook."""
    source = page("Failed cases", [*cases.folded(), cases.aside()], cases, has_charts=False)
    about = 'class="pictures" title="Failed cases" sandbox="allow-scripts"'
    return Markup(f'<iframe {about} srcdoc="{escape(source)}"></iframe>')


def _piece(*parts: Markup) -> str:
    style = (files("misstep.rendering") / "data" / "notebook.css").read_text("utf-8")
    return element("div", Markup(f"<style>{style}</style>"), *parts, class_="misstep-result").source


def _counts(summary: Summary) -> str:
    kinds = terminal.kinds_of_errors(summary)
    unjudged = {"inconclusive": summary.inconclusive, "errored": summary.errored}
    said = [
        agent_name(summary, NAME),
        f"95 % interval {terminal.from_to(summary.interval)}",
        f"chance level {terminal.percent(summary.chance)}",
        *([f"baselines: {terminal.baselines_in_words(summary.baselines)}"] if summary.baselines else []),
        *terminal.easy_lines(summary.chance)[:1],
        *([f"failures: {kinds}"] if kinds else []),
        *(f"{count} {name}" for name, count in unjudged.items() if count),
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
    mark = element("b", " ← misstep", class_="bad")
    codes = [element("code", written(call.tool, call.arguments, ARGUMENTS)) for call in calls[:MOST_CALLS]]
    items = [element("li", code, *([mark] if number == step else [])) for number, code in enumerate(codes, 1)]
    left = len(calls) - MOST_CALLS
    more = [element("p", f"… {left:,} more calls", class_="dim")] if left > 0 else []
    return element("div", element("ol", *items), *more)


def _finding(cause: Cause, again: Again) -> Markup:
    finding = cause.findings[0]
    kind = element("b", finding.kind, class_="bad")
    where = element("span", f" · {plain(finding.where, NAME)}", class_="dim") if finding.where else ""
    head = element("summary", kind, " ", text(finding.error, NAME), " · ", text(finding.tool, NAME), where)
    calls = element("pre", lines("\n".join(map(written_call, finding.calls))))
    told = (finding.message, finding.why, fuzz_views.history(finding), *fuzz_views.other_places(cause))
    said = [element("p", text(each)) for each in told if each]
    return element("details", head, calls, *said, _command(again.one(finding.id)))


def _command(command: str) -> Markup:
    return element("pre", element("code", text(command)))
