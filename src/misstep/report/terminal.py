"""Runs as rich renderables."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary
from misstep.report.text import plain

STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow", "errored": "magenta"}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def money(usd: float | None, model: str | None) -> str:
    if usd is None:
        way = "say what it costs with --prices" if model else "name its model with --model"
        return f"unknown  ({way})"
    return f"{usd:.2f} USD" if usd >= 0.01 or not usd else f"{usd:.6f} USD"


def summary_table(summary: Summary) -> Table:
    """The closing table: counts, rate with its interval, chance beside it, errors by kind."""
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    low, high = summary.interval
    judged = summary.passed + summary.failed
    table.add_row("agent", Text(plain(summary.agent)))
    if summary.model:
        table.add_row("model", Text(plain(summary.model)))
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
    if summary.tokens.input or summary.tokens.output:
        table.add_row("tokens", f"{summary.tokens.input:,} in, {summary.tokens.output:,} out")
        table.add_row("cost", money(summary.usd, summary.model))
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
            _agent(settings),
            str(settings.actions) if not settings.cases else "file",
        )
        if summary:
            low, high = summary.interval
            interval = f"{100 * low:.0f}–{100 * high:.0f} %"
            table.add_row(*head, str(done), percent(summary.success), interval, percent(summary.chance))
        else:
            table.add_row(*head, f"{done}/{total}", Text("unfinished", style="yellow"), "", "")
    return table


def _agent(settings: Settings) -> Text:
    """The agent, its model below it if it has one."""
    text = Text(plain(settings.agent))
    return text.append(f"\n{plain(settings.model)}", style="dim") if settings.model else text


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
