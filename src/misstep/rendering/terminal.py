"""Shows runs on the terminal."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.case import Baselines
from misstep.core.outcome import Outcome
from misstep.core.results.summary import Summary
from misstep.core.run import TESTING, RunSpec
from misstep.core.settings import Settings
from misstep.rendering.layout import Trimmed, bare_table
from misstep.rendering.text import plain
from misstep.rendering.words import method_in_words, specs_in_short

STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow", "errored": "magenta"}

EASY = 0.5  # above this chance level, success says little
BASELINES = {"text_order": "text order", "ignores_family": "ignores family"}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def money(usd: float | None, model: str | None) -> str:
    if usd is None:
        way = "say what it costs with --prices" if model else "name its model with --model"
        return f"unknown  ({way})"
    return f"{usd:.2f} USD" if usd >= 0.01 or not usd else f"{usd:.6f} USD"


def baseline_rates(baselines: Baselines | None) -> dict[str, str]:
    """The pass rate of each baseline agent, by name; a dash if it was not computed."""
    return {name: percent(getattr(baselines, field, None)) for field, name in BASELINES.items()}


def baselines_in_words(baselines: Baselines | None) -> str:
    return ", ".join(f"{name} {rate}" for name, rate in baseline_rates(baselines).items())


def easy_lines(chance: float | None, own_tools: bool = False) -> list[str]:
    """A warning if guessing passes more than half of the cases, and what the chance level leaves out."""
    told = (
        ["chance level and baselines count the order of calls only, not their arguments"] if own_tools else []
    )
    if chance is None or chance <= EASY:
        return told
    return [
        *told,
        f"warning: the chance level is {percent(chance)}: guessing passes more than half of these cases",
        "harder ones: --difficulty 'chance<=0.3', more --actions, or order among the families",
    ]


def summary_table(summary: Summary) -> Table:
    table = bare_table(headed=False)
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
    if kinds:
        table.add_row("failures", ", ".join(kinds))
    table.add_row("success", f"{percent(summary.success)}  ({summary.passed} of {judged} judged)")
    table.add_row("95 % interval", f"{percent(low)} to {percent(high)}" if judged else "–")
    table.add_row("chance level", f"{percent(summary.chance)}  (what blind luck would reach)")
    table.add_row("baselines", baselines_in_words(summary.baselines))
    table.add_row("calls", str(summary.calls))
    if summary.tokens.input or summary.tokens.output:
        table.add_row("tokens", f"{summary.tokens.input:,} in, {summary.tokens.output:,} out")
        table.add_row("cost", money(summary.usd, summary.model))
    return table


class RunRow(msgspec.Struct, frozen=True):
    """A run in a list; it is `live` while a process works on it, and has a summary once it has finished."""

    run: str
    started: float
    total: int
    done: int
    settings: Settings
    live: bool
    summary: Summary | None
    purpose: RunSpec = TESTING


def runs_table(rows: Iterable[RunRow]) -> RenderableType:
    """A few lines for each run; columns about plans are left out if no run has any."""
    listed = list(rows)
    plans = any(row.purpose.kind.group != "tool" for row in listed)
    table = bare_table()
    subject = "agent" if plans else "tools"
    for heading in ("run", "started", subject, *(["actions"] if plans else [])):
        table.add_column(heading, no_wrap=heading != subject, overflow="fold")
    for heading in ("cases", "success", *(["chance"] if plans else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in listed:
        done, success, chance = _results(row)
        sizes, chances = ([_size(row)], [chance]) if plans else ([], [])
        table.add_row(row.run, _when(row.started), _subject(row), *sizes, done, success, *chances)
    return Trimmed(table)


def _size(row: RunRow) -> str:
    if not row.purpose.kind.has_cases:
        return ""
    return str(row.settings.actions) if not row.settings.cases else "file"


def _results(row: RunRow) -> tuple[str, str | Text, str]:
    if row.summary is None:
        state = Text("going on", style="green") if row.live else Text("unfinished", style="yellow")
        return _cases(row, f"{row.done}/{row.total}" if row.total else str(row.done)), state, ""
    low, high = row.summary.interval
    rate = "–" if row.summary.success is None else f"{100 * row.summary.success:.0f} %"
    success = f"{rate} ({100 * low:.0f}–{100 * high:.0f})"
    return _cases(row, str(row.done)), success, percent(row.summary.chance)


def _cases(row: RunRow, count: str) -> str:
    kind = row.purpose.kind
    return count if kind.has_cases else f"{count} {kind.unit if count == '1' else kind.units}"


def _when(started: float) -> str:
    """The date: with the time if it is this year, else with the year."""
    then = datetime.fromtimestamp(started)
    return then.strftime("%m-%d %H:%M" if then.year == datetime.now().year else "%Y-%m-%d")


def _subject(row: RunRow) -> Text:
    name, *more = subject_lines(row.settings, row.purpose)
    return Text(name).append("".join(f"\n{line}" for line in more), style="dim")


def subject_lines(settings: Settings, purpose: RunSpec) -> list[str]:
    """What is tested, below it the model, and the command if it was not a plain test."""
    on_tools = purpose.kind.group == "tool"
    told = [specs_in_short(purpose.tools) if on_tools else plain(settings.agent)]
    who = [settings.agent if on_tools else "", settings.model]
    if any(who):
        told.append(plain(", ".join(filter(None, who))))
    if purpose.verb != "test":
        of = f" of {purpose.run}" if purpose.run else ""
        command = purpose.command if purpose.kind.group == "bench" else purpose.verb
        told.append(f"{command}{of}{method_in_words(settings, purpose)}")
    return told


def failures_table(outcomes: Sequence[Outcome]) -> Table:
    table = bare_table()
    for heading in ("case", "error", "step", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "why")
    for outcome in outcomes:
        verdict = outcome.verdict
        style = STYLES[verdict.verdict]
        kind = Text(verdict.error or verdict.verdict, style=style)
        step = str(verdict.step) if verdict.step else ""
        table.add_row(Text(plain(verdict.case)), kind, step, Text(plain(verdict.explanation, 500)))
    return table
