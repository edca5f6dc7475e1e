"""Shows the results of a benchmark on the terminal, as JSON and in the HTML page."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.results.benchmark import BenchmarkReport, PassRate, TaskReport
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.page import PartPage
from misstep.rendering.html.sections import page_section
from misstep.rendering.layout import Trimmed, numbers_table, section
from misstep.rendering.terminal import STYLES, counted, percent
from misstep.rendering.text import few_lines, plain, plain_lines
from misstep.rendering.trial import last_words, picked, tokens_as_json, trial_as_json, uses_in_words
from misstep.rendering.words import interval

HEADINGS = ("passed", "of", "rate", "95 % interval", "not judged")
MOST = 300  # characters of a text in a list
MOST_LINES = 4  # of a request in a list
MOST_WHY = 3  # differences of a task in a list
WHOLE = 4_000  # where a task is shown in full


def benchmark_view(report: BenchmarkReport, show: str, place: str = "", most: int = 20) -> RenderableType:
    """`show` and `place` come before and after a task in the command that shows it in full."""
    parts: list[RenderableType] = [_rates(report), Text(f"\n{spent_in_words(report)}", style="dim")]
    amiss = [task for task in report.tasks if task.verdict != "passed"]
    if amiss and (progress := progress_in_words(report)):
        parts.append(Text(progress, style="yellow"))
    told = dict.fromkeys(note for task in report.tasks for note in task.notes)
    parts += [Text(plain(note, 1_000), style="dim") for note in told]
    parts += [each for task in amiss[:most] for each in (Text(), _line(task))]
    if len(amiss) > most:
        whole = f"{show} --most {len(amiss)}{place}"
        parts.append(Text(f"\n… and {len(amiss) - most} more: {whole} lists them all", style="dim"))
    if amiss:
        parts.append(Text(f"\nDetails: {show}/{amiss[0].name}{place}", style="dim"))
    elif report.tasks:
        parts.append(_all_passed(report))
    return Trimmed(Group(*parts))


def progress_in_words(report: BenchmarkReport) -> str:
    """The progress of an unfinished run; empty if it has finished."""
    done = len(report.tasks)
    return f"{done:,} of {report.total:,} tasks so far" if done < report.total else ""


def _all_passed(report: BenchmarkReport) -> Text:
    many = len(report.tasks) > 1
    if progress := progress_in_words(report):
        return Text(f"\n{progress}, {'all' if many else 'which'} passed", style="yellow")
    told = f"all {len(report.tasks):,} tasks" if many else "the only task"
    return Text(f"\n{told} passed", style="green")


def task_view(task: TaskReport) -> RenderableType:
    parts: list[RenderableType] = [_head(task), Padding(Text(plain_lines(task.request, WHOLE)), (1, 0, 0, 2))]
    if task.trial is not None:
        parts.append(section("agent calls", Group(*map(_use, uses_in_words(task.trial)))))
        parts.append(section("agent answer", Text(plain_lines(last_words(task.trial), WHOLE))))
    if task.why:
        parts.append(section("differences", Group(*[Text(plain(line, WHOLE)) for line in task.why])))
    return Trimmed(Group(*parts))


def _use(words: tuple[str, str]) -> RenderableType:
    call, answer = (Text(plain(line, WHOLE)) for line in words)
    return Group(call, Padding(answer, (0, 0, 0, 2), style="dim")) if answer else call


def rate_rows(report: BenchmarkReport, parts: Mapping[str, PassRate] | None = None) -> list[tuple[str, ...]]:
    """Cells for each part, by default kind and split, and a last row for the total."""
    splits: Mapping[str, PassRate] = report.by_split if len(report.by_split) > 1 else {}
    shown = {**report.by_kind, **splits} if parts is None else parts
    return [_row(name, rate) for name, rate in {**shown, "all": report.rate}.items()]


def spent_in_words(report: BenchmarkReport) -> str:
    tokens = sum(usage.input + usage.output for usage in report.usage.values())
    steps = "" if report.steps is None else f", {report.steps:.1f} to a task"
    money = f", {report.usd:.4f} USD" if report.usd else ""
    return f"{counted(report.calls, 'call')}{steps}; {tokens:,} tokens{money}; {report.seconds:,.1f} s"


def _rates(report: BenchmarkReport) -> Table:
    table = numbers_table("tasks", HEADINGS)
    *parts, whole = rate_rows(report)
    for cells in parts:
        table.add_row(*cells)
    table.add_row(*whole, style="bold")
    return table


def _row(name: str, rate: PassRate) -> tuple[str, ...]:
    ends = interval(rate.interval) if rate.judged else "–"
    counts = f"{rate.passed:,}", f"{rate.judged:,}"
    return plain(name, 60), *counts, percent(rate.rate), ends, f"{rate.unjudged:,}"


def _line(task: TaskReport) -> RenderableType:
    why = [Text(plain(line, MOST)) for line in task.why[:MOST_WHY]]
    if len(task.why) > MOST_WHY:
        why.append(Text(f"… and {len(task.why) - MOST_WHY} more", style="dim"))
    body = Group(Text(few_lines(task.request, MOST, MOST_LINES), style="italic"), *why)
    return Group(_head(task), Padding(body, (0, 0, 0, 2), expand=False))


def _head(task: TaskReport) -> Text:
    head = Text(task.verdict, style=STYLES[task.verdict])
    head.append(f"  {task.name}", style="bold")
    about = ", ".join(filter(None, (task.kind, task.domain, task.split)))
    return head.append(f"  {plain(about, 200)}")


def benchmark_as_json(report: BenchmarkReport) -> dict[str, Any]:
    return {
        **picked(report, "run", "benchmark"),
        "tools": list(report.specs),
        "tasks": len(report.tasks),
        "total": max(report.total, len(report.tasks)),
        **_rate_as_json(report.rate),
        "by_kind": {name: _rate_as_json(rate) for name, rate in report.by_kind.items()},
        "by_split": {name: _rate_as_json(rate) for name, rate in report.by_split.items()},
        **picked(report, "calls", "steps"),
        "tokens": tokens_as_json(report.usage),
        "usd": report.usd,
        "seconds": round(report.seconds, 3),
        "results": [_line_as_json(task) for task in report.tasks],
    }


def task_as_json(task: TaskReport) -> dict[str, Any]:
    return {
        **_line_as_json(task),
        "request": task.request,
        "trial": task.trial and trial_as_json(task.trial),
        **picked(task, "seconds", "sandbox"),
    }


def _line_as_json(task: TaskReport) -> dict[str, Any]:
    return {
        "id": task.name,
        **picked(task, "kind", "domain", "split", "verdict", "why", "calls"),
    }


def _rate_as_json(rate: PassRate) -> dict[str, Any]:
    return {
        **picked(rate, "passed", "failed", "inconclusive", "errored"),
        "success": rate.rate,
        "interval": list(rate.interval),
    }


MOST_ON_PAGE = 4_000  # characters of a text
MOST_TASKS = 200  # shown in full


def tasks(report: BenchmarkReport, place: str) -> Iterator[Markup]:
    """The sections of the page; `place` is the part of a command that names the store."""
    amiss = [task for task in report.tasks if task.verdict != "passed"]
    if amiss:
        shown = [_task(task, report.run, place) for task in amiss[:MOST_TASKS]]
        if len(amiss) > MOST_TASKS:
            shown.append(element("p", f"… and {len(amiss) - MOST_TASKS:,} more.", class_="dim"))
        yield page_section("Tasks that did not pass", *shown)
    told = dict.fromkeys(note for task in report.tasks for note in task.notes)
    notes = [element("p", text(note), class_="caption") for note in told]
    said = filter(None, (progress_in_words(report), spent_in_words(report)))
    spent = [element("p", text(line), class_="caption") for line in said]
    yield page_section("Tasks", grid(("tasks", *HEADINGS), map(Row, rate_rows(report))), *spent, *notes)
    domains = rate_rows(report, report.by_domain)
    if len(domains) > 2:  # one domain, and the total
        yield page_section("Domains", grid(("domain", *HEADINGS), map(Row, domains)))


def task_page(report: BenchmarkReport, task: TaskReport, place: str) -> PartPage:
    asked = element("p", lines(task.request, MOST_ON_PAGE), class_="lines")
    order = [each.name for each in report.tasks]
    body = _body(task, report.run, place)
    return PartPage.among(order, task.name, f"{task.verdict}: task {plain(task.name, 100)}", (asked, *body))


def _task(task: TaskReport, run: str, place: str) -> Markup:
    about = ", ".join(filter(None, (task.kind, task.domain, task.split)))
    verdict = element("b", task.verdict, class_="bad" if task.verdict == "failed" else "unsure")
    asked = element("span", lines(task.request, MOST_ON_PAGE), class_="lines")
    head = element("summary", verdict, " ", text(about, 200), " · ", asked)
    return element("details", head, *_body(task, run, place), data_part=f"tasks/{quote(task.name, safe='')}")


def _body(task: TaskReport, run: str, place: str) -> list[Markup]:
    again = f"misstep replay {shlex.quote(plain(f'{run}/{task.name}'))}{place}"
    parts = [element("ul", *[element("li", text(line, MOST_ON_PAGE)) for line in task.why])]
    if task.trial is not None:
        did = [element("li", *_use_on_page(*words)) for words in uses_in_words(task.trial)]
        parts += [element("p", "Agent calls:"), element("ol", *did)]
        parts += [element("p", "Agent answer:"), element("pre", lines(last_words(task.trial), MOST_ON_PAGE))]
    return [*parts, element("pre", lines(plain(again)), class_="command")]


def _use_on_page(call: str, answer: str) -> Iterator[Markup]:
    yield text(call, MOST_ON_PAGE)
    if answer:
        yield element("div", text(answer, MOST_ON_PAGE), class_="dim")
