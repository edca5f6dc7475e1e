"""Tasks of a benchmark in a page."""

import shlex
from collections.abc import Iterator, Sequence

from misstep.core.benchmark import BenchmarkReport, TaskReport
from misstep.report.benchmark import HEADINGS, progress_in_words, rate_rows, spent_in_words
from misstep.report.text import plain
from misstep.report.trial import last_words, uses_in_words
from misstep.report.web.markup import Markup, element, lines, text
from misstep.report.web.sections import section
from misstep.report.web.tables import Row, grid

MOST = 4_000  # characters of a text
MOST_TASKS = 200  # shown in full


def tasks(report: BenchmarkReport, place: str) -> Iterator[Markup]:
    """Rates by kind and split, then by domain, then each task that did not pass.

    `place` is what a command needs to find the store.
    """
    told = dict.fromkeys(note for task in report.tasks for note in task.notes)
    notes = [element("p", text(note), class_="caption") for note in told]
    said = filter(None, (progress_in_words(report), spent_in_words(report)))
    spent = [element("p", text(line), class_="caption") for line in said]
    yield section("Tasks", grid(("tasks", *HEADINGS), map(Row, rate_rows(report))), *spent, *notes)
    domains = rate_rows(report, report.by_domain)
    if len(domains) > 2:  # one, and all
        yield section("Domains", grid(("domain", *HEADINGS), map(Row, domains)))
    amiss = [task for task in report.tasks if task.verdict != "passed"]
    if amiss:
        yield section("Tasks that did not pass", *_amiss(amiss, report.run, place))


def _amiss(amiss: Sequence[TaskReport], run: str, place: str) -> Iterator[Markup]:
    for task in amiss[:MOST_TASKS]:
        yield _task(task, f"misstep replay {shlex.quote(plain(f'{run}/{task.name}'))}{place}")
    if len(amiss) > MOST_TASKS:
        yield element("p", f"… and {len(amiss) - MOST_TASKS:,} more.", class_="dim")


def _task(task: TaskReport, again: str) -> Markup:
    about = ", ".join(filter(None, (task.kind, task.domain, task.split)))
    verdict = element("b", task.verdict, class_="bad")
    asked = element("span", lines(task.request, MOST), class_="lines")
    head = element("summary", verdict, " ", text(about, 200), " · ", asked)
    parts = [element("ul", *[element("li", text(line, MOST)) for line in task.why])]
    if task.trial is not None:
        did = [element("li", *_use(*words)) for words in uses_in_words(task.trial)]
        parts += [element("p", "What the agent did:"), element("ol", *did)]
        parts += [element("p", "What it said:"), element("pre", lines(last_words(task.trial), MOST))]
    return element(
        "details", head, *parts, element("p", "Again:"), element("pre", lines(plain(again)), class_="command")
    )


def _use(call: str, answer: str) -> Iterator[Markup]:
    yield text(call, MOST)
    if answer:
        yield element("div", text(answer, MOST), class_="dim")
