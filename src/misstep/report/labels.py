"""What labels come to, as people see it."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.label import Agreement, LabelReport, Opinion, Rate, Score
from misstep.report.layout import Trimmed, bare_table, section
from misstep.report.statistics import interval
from misstep.report.terminal import counted, percent
from misstep.report.text import plain

TERMS = (
    "false discoveries: called erroneous by the run and not by the labeller; missed: passed by the run and "
    "called erroneous by the labeller; with 95 % intervals"
)


def labels_view(report: LabelReport) -> RenderableType:
    """What everybody said, held against what the run says, and against each other."""
    found = f"{report.discovered} of them called erroneous by run {report.run}"
    parts: list[RenderableType] = [Text(f"{counted(report.items, 'item')}, {found}")]
    parts += [section(_heading(opinion), _scores(opinion)) for opinion in report.opinions]
    parts += [section(_pair(agreement), _agreement(agreement)) for agreement in report.agreements]
    parts.append(Text(f"\n{TERMS}" if report.opinions else "nobody has labelled any yet", style="dim"))
    return Trimmed(Group(*parts))


def rate_in_words(rate: Rate) -> str:
    """`3 of 10`, the share, and where it may be."""
    if rate.share is None:
        return "–"
    return f"{rate.count} of {rate.total}: {percent(rate.share)} ({interval(rate.interval)})"


def kappa_in_words(agreement: Agreement) -> str:
    """Cohen's kappa, and where it may be."""
    if not agreement.equal.total:
        return "not known: no item has a label of both"
    if agreement.kappa is None:
        return "not known: both gave one and the same label only"
    low, high = agreement.interval
    return f"{agreement.kappa:.2f} ({low:.2f} – {high:.2f})"


def label_in_words(erroneous: bool) -> str:
    return "erroneous" if erroneous else "correct"


def rows_of(opinion: Opinion) -> list[tuple[str, Score]]:
    """A line for each tool, then one for all of them."""
    tools = [(plain(name, 100), score) for name, score in opinion.tools.items()]
    return [*tools, ("all tools", opinion.score)] if len(tools) > 1 else tools


def _heading(opinion: Opinion) -> str:
    left = f", {opinion.left} left" if opinion.left else ""
    return f"{plain(opinion.labeller)}: {opinion.labelled} labelled{left}"


def _pair(agreement: Agreement) -> str:
    return f"{plain(agreement.first)} and {plain(agreement.second)}"


def _scores(opinion: Opinion) -> Table:
    table = bare_table()
    table.add_column("tool", overflow="fold", min_width=9)
    table.add_column("false discoveries", overflow="fold")
    table.add_column("missed", overflow="fold")
    for name, score in rows_of(opinion):
        table.add_row(Text(name), rate_in_words(score.false_discoveries), rate_in_words(score.missed))
    return table


def _agreement(agreement: Agreement) -> RenderableType:
    lines: list[RenderableType] = [
        Text(f"same label  {rate_in_words(agreement.equal)}"),
        Text(f"kappa       {kappa_in_words(agreement)}"),
    ]
    if agreement.disagreements:
        lines += [Text(), _disagreements(agreement)]
    return Group(*lines)


def _disagreements(agreement: Agreement) -> Table:
    table = bare_table()
    for heading in ("differ on", "tool", plain(agreement.first), plain(agreement.second)):
        table.add_column(Text(heading), overflow="fold")
    for one in agreement.disagreements:
        said = (label_in_words(one.first), label_in_words(one.second))
        table.add_row(Text(plain(one.item, 100)), Text(plain(one.tool, 100)), *said)
    return table
