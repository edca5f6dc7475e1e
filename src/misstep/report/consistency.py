"""Answers of tools to people who mean the same, as rich renderables."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misstep.core.alikeness import group_sets
from misstep.core.consistency import (
    Bucket,
    Buckets,
    ConsistencyReport,
    ConsistencyRun,
    Evidence,
    PromptSet,
    Score,
    Side,
)
from misstep.report.layout import bare_table, section
from misstep.report.terminal import STYLES, counted
from misstep.report.text import plain

MOST = 500  # characters of a text in a list
WHOLE = 4_000  # where a set is shown in full
HEADINGS = ("sets", "failed", "passed", "inconclusive", "groups", "calls", "tokens")
ENDINGS = {"done": "", "time": "time was up before all sets were made", "stopped": "stopped before its end"}


def consistency_view(report: ConsistencyRun, again: str, place: str = "") -> RenderableType:
    """A line for each tool, then each set that failed.

    `again` and `place` are what stands before and after a set in the command that replays it.
    """
    parts: list[RenderableType] = [_tools_table(report.tools)]
    if words := sorted({tool.sandbox for tool in report.tools if tool.sandbox}):
        parts.append(Text(f"\nsandbox: {'; '.join(map(plain, words))}", style="dim"))
    told = [f"{tool.name}: {'; '.join(said)}" for tool in report.tools if (said := remarks(tool))]
    parts += [Text(plain(line, 1_000), style="dim") for line in told]
    for tool in report.tools:
        for each in tool.faulty:
            command = Text(f"  again: {again}/{each.id}{place}", style="dim")
            parts += [Text(), set_view(each, tool.name), command]
    if not any(tool.faulty for tool in report.tools):
        parts.append(Text("\nno set has failed", style="green"))
    unclear = [_unclear(tool.name, each) for tool in report.tools for each in tool.having("inconclusive")]
    if unclear:
        parts.append(section("inconclusive", Group(*unclear)))
    return Group(*parts)


def set_view(one: PromptSet, tool: str, most: int = MOST) -> RenderableType:
    """A set with its requests by their numbers, and all that its verdict rests on."""
    head = Text(one.verdict, style=STYLES[one.verdict])
    head.append(f"  {plain(tool, 100)}", style="bold")
    head.append(f"  {plain(one.why, most)}")
    parts: list[RenderableType] = []
    if one.template:
        parts.append(Text(f"template: {plain(one.template, most)}"))
    parts += [_hanging(f"{number}", request, most) for number, request in enumerate(one.requests, 1)]
    parts += _buckets(one.buckets, "", most)
    if one.normalised is not None:
        parts += _buckets(one.normalised, ", what does not matter left out", most)
    if one.expectation is not None:
        parts.append(Text(f"expected: {plain(one.expectation.statement, most)}"))
    if one.scores:
        lines = [_hanging(str(score.request), score_in_words(score), most) for score in one.scores]
        parts.append(_listed("scores", lines))
    if one.evidence is not None:
        parts.append(_listed("the pair that shows it", _evidence(one.evidence, most)))
    return Group(head, Padding(Group(*parts), (0, 0, 0, 2), expand=False))


def set_detail(one: PromptSet, tool: str) -> RenderableType:
    """The same with what the agent answered, and what was expected of each request."""
    parts: list[RenderableType] = [set_view(one, tool, WHOLE)]
    if one.trials:
        said = [
            _hanging(str(number), trial.answer or trial.error or trial.ended, WHOLE)
            for number, trial in enumerate(one.trials, 1)
        ]
        parts.append(section("what the agent answered", Group(*said)))
    if one.expectation is not None:
        expected = [Text(plain(answer, WHOLE)) for answer in one.expectation.answers]
        parts.append(section("what could be expected", Group(*expected)))
    return Group(*parts)


def remarks(tool: ConsistencyReport) -> list[str]:
    """What else there is to say about a tool."""
    groups = [f"{each.differs} ({counted(len(each.sets), 'set')})" for each in group_sets(tool.sets)]
    differing = [f"what differs: {'; '.join(groups)}"] if groups else []
    return [*tool.notes, *filter(None, [ENDINGS[tool.ended]]), *differing]


def score_in_words(score: Score) -> str:
    """Both scores where there were two, and why."""
    if score.second is None:
        return f"{score.score} of 10: {score.reason}"
    return f"{score.score} of 10: {score.reason}; asked again: {score.second}: {score.second_reason}"


def numbers_of(bucket: Bucket) -> str:
    return "{" + ", ".join(map(str, bucket.requests)) + "}"


def counts_of(tool: ConsistencyReport) -> tuple[str, ...]:
    """What the table says about a tool, in the order of its headings."""
    verdicts = [len(tool.having(verdict)) for verdict in ("failed", "passed", "inconclusive")]
    groups = len(group_sets(tool.sets))
    return tuple(f"{count:,}" for count in (len(tool.sets), *verdicts, groups, tool.calls, tool.tokens))


def _tools_table(tools: Sequence[ConsistencyReport]) -> Table:
    table = bare_table()
    table.add_column("tool", overflow="fold", min_width=12)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for tool in tools:
        cells = [Text(count) for count in counts_of(tool)]
        cells[1].stylize("red" if tool.faulty else "green")
        table.add_row(Text(plain(tool.name, 100)), *cells)
    return table


def _buckets(buckets: Buckets, how: str, most: int) -> list[RenderableType]:
    sorts = (("inputs", buckets.inputs), ("outputs", buckets.outputs))
    return [
        _listed(f"buckets of {name}{how}", [_hanging(numbers_of(each), each.value, most) for each in found])
        for name, found in sorts
        if found
    ]


def _evidence(evidence: Evidence, most: int) -> list[RenderableType]:
    sides = [side for side in (evidence.wrong, evidence.right) if side is not None]
    return [_hanging(str(side.number), _side_in_words(side), most) for side in sides]


def _side_in_words(side: Side) -> str:
    scored = "" if side.score is None else f" ({side.score} of 10)"
    return f"{side.inputs} → {side.outputs}{scored}"


def _listed(title: str, lines: Sequence[RenderableType]) -> RenderableType:
    return Group(Text(title, style="dim"), Padding(Group(*lines), (0, 0, 0, 2), expand=False))


def _hanging(mark: str, text: str, most: int) -> RenderableType:
    """A text beside its mark, its further lines below the first."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(mark, style="dim"), Text(plain(text, most)))
    return table


def _unclear(tool: str, one: PromptSet) -> RenderableType:
    return _hanging(f"{one.id} {plain(tool, 100)}", one.why, MOST)
