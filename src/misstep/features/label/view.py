"""Shows items to label and the results of labelling."""

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.results.label import Agreement, Item, LabelReport, LabelScore, Opinion, Rate
from misstep.core.results.trial import Trial
from misstep.rendering.layout import Trimmed, bare_table, indented, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import few_lines, plain
from misstep.rendering.trial import read_arguments
from misstep.rendering.words import interval, written

SHORT = 600  # characters of a text, unless all of it is requested
SHORT_LINES = 12
WHOLE = 200_000
NOTHING = "(nothing)"
QUESTION = (
    "Erroneous means the user was served badly: a wrong or missing answer, a tool called with the wrong "
    "arguments, or an unusable result. One such request is enough."
)


class Shown(msgspec.Struct, frozen=True):
    """A trial as the labeller sees it: only the request, calls with their results, and the answer.

    All text is escaped.
    """

    request: str
    calls: tuple[tuple[str, str], ...]
    answer: str


def shown(trial: Trial, most: int = WHOLE, lines: int = WHOLE) -> Shown:
    """A trial with each of its texts cut to this many characters and lines."""

    def text(said: str) -> str:
        return few_lines(said.strip("\n") or NOTHING, most, lines)

    calls = [written(use.tool, read_arguments(use.arguments), most) for use in trial.uses]
    results = [text(use.result) for use in trial.uses]
    return Shown(text(trial.request), tuple(zip(calls, results, strict=True)), text(trial.answer))


def is_cut(item: Item) -> bool:
    return any(shown(trial, SHORT, SHORT_LINES) != shown(trial) for trial in item.trials)


def item_view(item: Item, place: int, of: int, whole: bool = False) -> RenderableType:
    limits = (WHOLE, WHOLE) if whole else (SHORT, SHORT_LINES)
    parts: list[RenderableType] = [Text(f"{place} of {of}", style="bold reverse")]
    for number, each in enumerate(item.trials, 1):
        trial = shown(each, *limits)
        parts += _part(f"request {number}" if len(item.trials) > 1 else "request", trial.request, "bold")
        for call, result in trial.calls:
            parts += [*_part("tool", call, "cyan"), indented(result)]
        if not trial.calls:
            parts += _part("tool", "(not called)", "dim")
        parts += _part("answer", trial.answer)
    return Trimmed(Group(*parts))


def _part(heading: str, text: str, style: str = "") -> list[RenderableType]:
    return [Text(f"\n{heading}", style="dim"), indented(text, style)]


TERMS = (
    "false discoveries: called erroneous by the run and not by the labeller; missed: passed by the run and "
    "called erroneous by the labeller; with 95 % intervals"
)


def labels_view(report: LabelReport) -> RenderableType:
    found = f"{report.discovered} of them called erroneous by run {report.run}"
    parts: list[RenderableType] = [Text(f"{counted(report.items, 'item')}, {found}")]
    for opinion in report.opinions:
        left = f", {opinion.left} left" if opinion.left else ""
        heading = f"{plain(opinion.labeller)}: {opinion.labelled} labelled{left}"
        parts.append(section(heading, _scores(opinion)))
    for agreement in report.agreements:
        pair = f"{plain(agreement.first)} and {plain(agreement.second)}"
        parts.append(section(pair, _agreement(agreement)))
    parts.append(Text(f"\n{TERMS}" if report.opinions else "no labels yet", style="dim"))
    return Trimmed(Group(*parts))


def rate_in_words(rate: Rate) -> str:
    """`3 of 10`, the share, and its interval."""
    if rate.share is None:
        return "–"
    return f"{rate.count} of {rate.total}: {percent(rate.share)} ({interval(rate.interval)})"


def kappa_in_words(agreement: Agreement) -> str:
    if not agreement.equal.total:
        return "unknown: no item was labelled by both"
    if agreement.kappa is None:
        return "unknown: both gave only one and the same label"
    low, high = agreement.interval
    return f"{agreement.kappa:.2f} ({low:.2f} – {high:.2f})"


def label_in_words(erroneous: bool) -> str:
    return "erroneous" if erroneous else "correct"


def rows_of(opinion: Opinion) -> list[tuple[str, LabelScore]]:
    tools = [(plain(name, 100), score) for name, score in opinion.tools.items()]
    return [*tools, ("all tools", opinion.score)] if len(tools) > 1 else tools


def _scores(opinion: Opinion) -> Table:
    table = bare_table()
    table.add_column("tool", overflow="fold", min_width=9)
    for heading in ("false discoveries", "missed"):
        table.add_column(heading, overflow="fold")
    for name, score in rows_of(opinion):
        table.add_row(Text(name), rate_in_words(score.false_discoveries), rate_in_words(score.missed))
    return table


def _agreement(agreement: Agreement) -> RenderableType:
    lines = (
        Text(f"same label  {rate_in_words(agreement.equal)}"),
        Text(f"kappa       {kappa_in_words(agreement)}"),
    )
    if not agreement.disagreements:
        return Group(*lines)
    table = bare_table()
    for heading in ("differ on", "tool", plain(agreement.first), plain(agreement.second)):
        table.add_column(Text(heading), overflow="fold")
    for one in agreement.disagreements:
        said = (label_in_words(one.first), label_in_words(one.second))
        table.add_row(Text(plain(one.item, 100)), Text(plain(one.tool, 100)), *said)
    return Group(*lines, Text(), table)
