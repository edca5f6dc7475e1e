"""Shows runs on the terminal: lists, summaries, failures, estimates and what was spent."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.case import Baselines
from misstep.core.event import Estimate
from misstep.core.outcome import JUDGEMENTS, ErrorKind, Outcome, Usage
from misstep.core.results.summary import ListedRun, Run, Summary
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, Settings
from misstep.core.spending import Budget, Cost
from misstep.rendering.layout import Parts, Trimmed, bare_table
from misstep.rendering.text import plain
from misstep.rendering.words import Named, agent_name, method_in_words, specs_in_short

STYLES = {"passed": "green", "failed": "red", "inconclusive": "yellow", "errored": "magenta"}

EASY = 0.5  # above this chance level, success says little
BASELINES = {"text_order": "text order", "ignores_family": "ignores family"}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def money(usd: float | None, model: str | None) -> str:
    if usd is None:
        way = "add its price with --prices" if model else "name its model with --model"
        return f"unknown ({way})"
    return f"{usd:.2f} USD" if usd >= 0.01 or not usd else f"{usd:.6f} USD"


def from_to(ends: tuple[float, float]) -> str:
    """The ends of an interval, for example of a success rate."""
    low, high = ends
    return f"{percent(low)} to {percent(high)}"


def in_and_out(tokens: Usage) -> str:
    return f"{tokens.input:,} in, {tokens.output:,} out"


def kinds_of_errors(summary: Summary) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in summary.errors.items() if count)


def baseline_rates(baselines: Baselines | None) -> dict[str, str]:
    """The pass rate of each baseline agent, by name; a dash if it was not computed."""
    return {name: percent(getattr(baselines, field, None)) for field, name in BASELINES.items()}


def baselines_in_words(baselines: Baselines | None) -> str:
    return ", ".join(f"{name} {rate}" for name, rate in baseline_rates(baselines).items())


def easy_lines(chance: float | None, own_tools: bool = False) -> list[str]:
    """A warning if guessing passes more than half of the cases, and what the chance level leaves out."""
    left_out = "chance level and baselines count the order of calls only, not their arguments"
    told = [left_out] if own_tools else []
    if chance is None or chance <= EASY:
        return told
    return [
        *told,
        f"warning: the chance level is {percent(chance)}: guessing passes more than half of these cases",
        "for harder cases: --difficulty 'chance<=0.3', more --actions, or order among the families",
    ]


def summary_view(summary: Summary) -> RenderableType:
    """The success rate with a bar, then what it has to be compared with, then counts and cost."""
    judged = summary.passed + summary.failed
    first = Text(percent(summary.success).rjust(7) + "  ", style="bold")
    line = Table.grid()
    line.add_row(first, RateBar(summary), Text(f"  {summary.passed:,} of {counted(judged, 'case')} passed"))
    beside = [f"95 % interval {from_to(summary.interval)}"] if judged else []
    beside += [f"chance level {percent(summary.chance)}"]
    beside += [f"{name} {rate}" for name, rate in baseline_rates(summary.baselines).items()]
    unpassed = {name: getattr(summary, name) for name in JUDGEMENTS[1:]}
    counts = [Text(f"{count:,} {name}", style=STYLES[name]) for name, count in unpassed.items() if count]
    if counts and summary.failed and (kinds := kinds_of_errors(summary)):
        counts[0].append(f" ({kinds})", style="not bold default")
    told = [*counts, Text(counted(summary.calls, "call"))]
    if summary.tokens.input or summary.tokens.output:
        told += [
            Text(f"{summary.tokens.input:,} tokens in, {summary.tokens.output:,} out"),
            Text(f"cost {money(summary.usd, summary.model)}"),
        ]
    tested = ", ".join(filter(None, (summary.agent, summary.model)))
    compared = Parts([Text(each, style="dim") for each in beside], ", ")
    rows: list[RenderableType] = [compared, Parts(told, " · "), Text(plain(tested), style="dim")]
    return Trimmed(Group(line, *[Padding(row, (0, 0, 0, 9)) for row in rows]))


class RateBar:
    """A success rate as a bar with its interval and, as a line across it, the chance level."""

    WIDTH = 30
    MARKS, PLAIN_MARKS = "█▓▒░│", "#=-.|"

    def __init__(self, summary: Summary) -> None:
        self._summary = summary

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        marks = self.PLAIN_MARKS if options.ascii_only else self.MARKS
        summary, (low, high) = self._summary, self._summary.interval
        if summary.success is None:
            yield Text(marks[3] * self.WIDTH, style="dim")
            return
        bar = Text()
        for cell in range(self.WIDTH):
            share = (cell + 0.5) / self.WIDTH
            level = sum([share > end for end in (low, summary.success, high)])
            is_chance = summary.chance is not None and int(summary.chance * self.WIDTH) == cell
            bar.append(marks[4] if is_chance else marks[level], style="green" if level < 2 else "dim")
        yield bar

    def __rich_measure__(self, _: Console, __: ConsoleOptions) -> Measurement:
        return Measurement(self.WIDTH, self.WIDTH)


def runs_table(runs: Sequence[ListedRun]) -> RenderableType:
    """A few lines for each run; columns about plans are left out if no run has any."""
    plans = any(listed.run.purpose.kind.group != "tool" for listed in runs)
    table = bare_table()
    subject = "agent" if plans else "tools"
    for heading in ("run", "started", subject, *(["actions"] if plans else [])):
        table.add_column(heading, no_wrap=heading != subject, overflow="fold")
    for heading in ("cases", "success", *(["chance"] if plans else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for listed in runs:
        run = listed.run
        then = datetime.fromtimestamp(run.started)
        when = then.strftime("%m-%d %H:%M" if then.year == datetime.now().year else "%Y-%m-%d")
        name, *more = subject_lines(run.settings, run.purpose)
        more += [" ".join(filter(None, (run.name, *(f"#{tag}" for tag in run.tags))))]
        tested = Text(name).append("".join(f"\n{line}" for line in more if line), style="dim")
        actions = "file" if run.settings.cases else str(run.settings.actions)
        size = actions if run.purpose.kind.has_cases else ""
        done, success, chance = _results(run, listed.live)
        sizes, chances = ([size], [chance]) if plans else ([], [])
        table.add_row(run.id, when, tested, *sizes, done, success, *chances)
    return Trimmed(table)


def _results(run: Run, live: bool) -> tuple[str, str | Text, str]:
    """The number of cases, or of something else with its unit, how many passed, and the chance level."""
    kind, summary = run.purpose.kind, run.summary
    count = f"{run.done}/{run.total}" if run.total and summary is None else str(run.done)
    cases = count if kind.has_cases else f"{count} {kind.unit if count == '1' else kind.units}"
    if summary is None:
        return cases, Text("running", style="green") if live else Text("unfinished", style="yellow"), ""
    if not kind.has_rate:
        return cases, "–", ""
    low, high = summary.interval
    rate = "–" if summary.success is None else f"{100 * summary.success:.0f} %"
    return cases, f"{rate} ({100 * low:.0f}–{100 * high:.0f})", percent(summary.chance)


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


_QUOTE = re.compile(
    r" (?=(?:Sentence \d+|The result of .{1,200}?) says? so: “)|(?<=”) (?=\d+ more constraint)"
)


def split_explanation(explanation: str) -> list[str]:
    """Why a case failed, then the quotation of the sentence that says so, then how much more is wrong."""
    return _QUOTE.split(explanation)


def failures_view(outcomes: Sequence[Outcome]) -> RenderableType:
    """A short block for each: the case, the kind of error and the step, then why."""
    blocks = list[RenderableType]()
    for outcome in outcomes:
        verdict = outcome.verdict
        head = Text(plain(verdict.case), style="bold")
        head.append(f"  {verdict.error or verdict.verdict}", style=STYLES[verdict.verdict])
        head.append(f" at step {verdict.step}" if verdict.step else "", style="not bold")
        why, *more = split_explanation(plain(verdict.explanation, 500))
        said = [Text(why), *[Text(line, style="dim") for line in more]]
        blocks += [head, Padding(Group(*said), (0, 0, 1, 2))]
    return Trimmed(Group(*blocks))


# In the order of the paper's tables.
KINDS: tuple[ErrorKind, ...] = ("timeout", "act", "lost", "order", "parameter")


class Column(msgspec.Struct, frozen=True):
    """One agent: the number of its failures, if known, and percentages of them."""

    heading: str
    shares: Mapping[str, float]
    total: int | None = None
    style: str = ""


def share(counts: Mapping[Any, int], name: str) -> float | None:
    total = sum(counts.values())
    return counts.get(name, 0) / total if total else None


def counted_column(one: Named, counts: Mapping[Any, int]) -> Column:
    total = sum(counts.values())
    shares = {name: 100 * (count / total) for name, count in counts.items()} if total else {}
    return Column(agent_name(one), shares, total)


def shares_table(what: str, rows: Sequence[str], columns: Sequence[Column]) -> Table:
    table = bare_table()
    table.add_column(what, no_wrap=True)
    for column in columns:
        table.add_column(Text(column.heading), justify="right", style=column.style, overflow="fold")
    for row in rows:
        cells = [f"{column.shares[row]:.1f} %" if row in column.shares else "–" for column in columns]
        table.add_row(row, *cells)
    if any(column.total is not None for column in columns):
        totals = ["" if column.total is None else f"{column.total:,}" for column in columns]
        table.add_row(Text("failures", style="bold"), *totals)
    return table


def estimate_table(estimate: Estimate, settings: AgentRunSettings) -> Table:
    table = bare_table(headed=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("agent", Text(plain(settings.agent)))
    if settings.model:
        table.add_row("model", Text(plain(settings.model)))
    table.add_row("cases", f"{estimate.cases:,}")
    table.add_row("calls", f"about {estimate.calls:,}")
    if estimate.known:
        table.add_row("tokens", f"about {estimate.tokens.input:,} in, {estimate.tokens.output:,} out")
        table.add_row("cost", ("about " if estimate.usd else "") + money(estimate.usd, settings.model))
        table.add_row("time", f"about {duration(estimate.seconds)}, {settings.jobs} cases at a time")
        table.add_row("based on", estimate.basis)
    else:
        table.add_row("tokens, cost, time", "unknown: no earlier run of this agent; run with --count 3 first")
    if estimate.affordable < estimate.cases:
        table.add_row("budget", Text(f"enough for about {estimate.affordable:,} of them", style="yellow"))
    return table


def estimate_line(estimate: Estimate) -> str:
    """The estimate in a few words; empty if the run uses no model, or nothing is known about it."""
    tokens = estimate.tokens.input + estimate.tokens.output
    if not (tokens and estimate.known):
        return ""
    cost = f", {money(estimate.usd, None)}" if estimate.usd is not None else ""
    return f"about {tokens:,} tokens{cost}, {duration(estimate.seconds)} (based on {estimate.basis})"


def duration(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def spending_in_words(used: Cost, budget: Budget) -> str:
    """What is limited, and the cost so far; empty for a run that uses no model and has no limits."""
    parts = []
    if budget.usd is not None or used.usd:
        parts.append(money(used.usd, None) + ("" if budget.usd is None else f" of {budget.usd:g}"))
    if budget.tokens is not None or used.tokens:
        parts.append(f"{used.tokens:,.0f}" + _of(budget.tokens) + " tokens")
    if budget.calls is not None:
        parts.append(f"{used.calls:,.0f}" + _of(budget.calls) + " calls")
    if budget.seconds is not None:
        parts.append(f"{duration(used.seconds)} of {duration(budget.seconds)}")
    return ", ".join(parts)


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {limit:,}"
