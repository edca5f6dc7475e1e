"""Runs and cases as rich renderables."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary
from misstep.report.text import plain, plain_lines

STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow", "errored": "magenta"}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def summary_table(summary: Summary) -> Table:
    """The closing table: counts, rate with its interval, chance beside it, errors by kind."""
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    low, high = summary.interval
    judged = summary.passed + summary.failed
    table.add_row("agent", Text(plain(summary.agent)))
    table.add_row("cases", str(summary.cases))
    for verdict in ("passed", "failed", "inconclusive", "errored"):
        count = getattr(summary, verdict)
        table.add_row(verdict, Text(str(count), style=STYLES[verdict] if count else "dim"))
    kinds = [f"{kind} {count}" for kind, count in summary.errors.items() if count]
    table.add_row("errors", ", ".join(kinds) or "none")
    table.add_row("success", f"{percent(summary.success)}  ({summary.passed} of {judged} judged)")
    table.add_row("95 % interval", f"{percent(low)} to {percent(high)}" if judged else "–")
    table.add_row("chance level", f"{percent(summary.chance)}  (what blind luck would reach)")
    table.add_row("calls", str(summary.calls))
    return table


def runs_table(rows: Iterable[tuple[str, float, int, int, Settings, Summary | None]]) -> Table:
    """One line per run: id, start, cases done of total, settings, summary once finished."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("run", "started", "agent", "actions"):
        table.add_column(heading, no_wrap=heading != "agent", overflow="fold")
    for heading in ("cases", "success", "interval", "chance"):
        table.add_column(heading, justify="right")
    for run, started, total, done, settings, summary in rows:
        when = datetime.fromtimestamp(started).strftime("%Y-%m-%d %H:%M")
        head = (
            run,
            when,
            Text(plain(settings.agent)),
            str(settings.actions) if not settings.cases else "file",
        )
        if summary:
            low, high = summary.interval
            interval = f"{100 * low:.0f}–{100 * high:.0f} %"
            table.add_row(*head, str(done), percent(summary.success), interval, percent(summary.chance))
        else:
            table.add_row(*head, f"{done}/{total}", Text("unfinished", style="yellow"), "", "")
    return table


def failures_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("case", "error", "step", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "why")
    for outcome in outcomes:
        verdict = outcome.verdict
        style = STYLES[verdict.verdict]
        kind = Text(verdict.error or verdict.verdict, style=style)
        step = str(verdict.step) if verdict.step else ""
        table.add_row(Text(plain(verdict.case)), kind, step, Text(plain(verdict.explanation, 500)))
    return table


def case_view(outcome: Outcome) -> RenderableType:
    """A case in full: the request, the calls with the misstep marked, the verdict and its reasons."""
    case, verdict = outcome.case, outcome.verdict
    parts: list[RenderableType] = [
        Text.assemble(("case ", "bold"), plain(case.id), f"   topic {plain(case.topic)}   seed {case.seed}"),
        _section("request", Text(plain_lines(case.query))),
        _section("calls", _calls(outcome)),
        _section("verdict", Text(_headline(outcome), style=STYLES[verdict.verdict])),
    ]
    if verdict.explanation:
        parts.append(_section("why", Text(plain(verdict.explanation))))
    if verdict.violated:
        parts.append(_section("broken constraints", _constraints(outcome)))
    if verdict.nearest:
        tools = {action.id: action.tool for action in case.actions}
        parts.append(
            _section("nearest correct plan", Text(" → ".join(tools[action] for action in verdict.nearest)))
        )
    return Group(*parts)


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2)))


def _headline(outcome: Outcome) -> str:
    verdict = outcome.verdict
    chance = f"   (chance level {percent(outcome.case.chance)})"
    return verdict.verdict + (f": {verdict.error}" if verdict.error else "") + chance


def _calls(outcome: Outcome) -> RenderableType:
    calls = outcome.transcript.calls
    if not calls:
        return Text("none", style="dim")
    width = len(str(len(calls)))
    text = Text()
    for step, call in enumerate(calls, 1):
        wrong = step == outcome.verdict.step
        arguments = "" if call.arguments == {} else plain(json.dumps(call.arguments, ensure_ascii=False), 200)
        line = f"{step:>{width}}  {plain(call.tool, 200)}({arguments}){'   ← misstep' if wrong else ''}"
        text.append(line + ("\n" if step < len(calls) else ""), style="red" if wrong else "")
    return text


def _constraints(outcome: Outcome) -> RenderableType:
    case = outcome.case
    names = {action.id: action.name for action in case.actions}
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for index in outcome.verdict.violated:
        constraint = case.constraints[index]
        source = "" if constraint.sentence is None else f"sentence {constraint.sentence + 1}"
        said = f"{plain(names[constraint.first])} before {plain(names[constraint.then])}"
        table.add_row(Text(f"{index}"), Text(said), Text(source, style="dim"))
    return table
