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
    Expectation,
    PromptSet,
    Score,
    Side,
)
from misstep.report.layout import Trimmed, bare_table, beneath, hanging, section
from misstep.report.terminal import STYLES, counted
from misstep.report.text import few_lines, plain
from misstep.report.trial import unanswered

MOST = 500  # characters of a text in a list
WHOLE = 4_000  # where a set is shown in full
MOST_LINES = 12  # of what a tool was given or gave back
NONE_FAILED = "no set has failed"
HEADINGS = ("sets", "failed", "passed", "inconclusive", "groups", "calls", "tokens")
ENDINGS = {"done": "", "time": "time was up before all sets were made", "stopped": "stopped before its end"}


def consistency_view(report: ConsistencyRun, again: str, place: str = "") -> RenderableType:
    """A line for each tool, then each set that failed.

    `again` and `place` are what stands before and after a set in the command that replays it.
    """
    parts: list[RenderableType] = [_tools_table(report.tools)]
    parts += beneath([(tool.name, tool.sandbox, remarks(tool)) for tool in report.tools])
    for tool in report.tools:
        for each in tool.faulty:
            command = Text(f"  again: {again}/{each.id}{place}", style="dim")
            parts += [Text(), set_view(each, tool.name), command]
    unclear = [_unclear(tool.name, each) for tool in report.tools for each in tool.having("inconclusive")]
    if not any(tool.faulty for tool in report.tools):
        outcome = nothing_failed(report.tools)
        parts += [Text(), Text(outcome, style="green" if outcome == NONE_FAILED else "yellow")]
    if unclear:
        parts.append(section("inconclusive", Group(*unclear)))
    return Trimmed(Group(*parts))


def nothing_failed(tools: Sequence[ConsistencyReport]) -> str:
    """Says as much as the sets do: of a tool that has none which was judged, nothing is known."""
    unclear = sum(len(tool.having("inconclusive")) for tool in tools)
    rest = f"; {counted(unclear, 'set')} could not be judged" if unclear else ""
    unknown = [plain(tool.name, 100) for tool in tools if tool.verdict == "inconclusive"]
    if unknown:
        rest += f"; nothing is known about {', '.join(unknown)}"
    return f"{NONE_FAILED}{rest}"


def set_view(one: PromptSet, tool: str, most: int = MOST) -> RenderableType:
    """A set with its requests by their numbers, and all that its verdict rests on."""
    head = Text(one.verdict, style=STYLES[one.verdict])
    head.append(f"  {plain(tool, 100)}", style="bold")
    head.append(f"  {plain(one.why, most)}")
    parts: list[RenderableType] = []
    if one.template:
        parts.append(Text(f"template: {plain(one.template, most)}"))
    parts += [hanging(f"{number}", plain(request, most)) for number, request in enumerate(one.requests, 1)]
    parts += _buckets(one.buckets, "", most)
    if one.normalised is not None:
        parts += _buckets(one.normalised, ", what does not matter left out", most)
    if one.expectation is not None:
        parts.append(Text(f"{_expected(one.expectation)}: {plain(one.expectation.statement, most)}"))
    if one.scores:
        lines = [hanging(str(score.request), plain(score_in_words(score), most)) for score in one.scores]
        parts.append(_listed("scores", lines))
    if one.evidence is not None:
        parts.append(_listed("the pair that shows it", _evidence(one.evidence, most)))
    return Trimmed(Group(head, Padding(Group(*parts), (0, 0, 0, 2), expand=False)))


def _expected(expectation: Expectation) -> str:
    return "expected (a guess)" if expectation.guessed else "expected"


def set_detail(one: PromptSet, tool: str) -> RenderableType:
    """The same with what the agent answered, and what was expected of each request."""
    parts: list[RenderableType] = [set_view(one, tool, WHOLE)]
    if one.trials:
        said = [
            hanging(str(number), plain(trial.answer or trial.error or trial.ended, WHOLE))
            for number, trial in enumerate(one.trials, 1)
        ]
        parts.append(section("what the agent answered", Group(*said)))
    if one.expectation is not None:
        expected = [Text(plain(answer, WHOLE)) for answer in one.expectation.answers]
        parts.append(section("what could be expected", Group(*expected)))
    return Trimmed(Group(*parts))


def remarks(tool: ConsistencyReport) -> list[str]:
    """What else there is to say about a tool."""
    groups = [f"{each.differs} ({counted(len(each.sets), 'set')})" for each in group_sets(tool.sets)]
    differing = [f"what differs: {'; '.join(groups)}"] if groups else []
    silent = unanswered([trial for each in tool.sets for trial in each.trials])
    return [*tool.notes, *filter(None, [ENDINGS[tool.ended]]), *silent, *differing]


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
        _listed(
            f"buckets of {name}{how}",
            [hanging(numbers_of(each), few_lines(each.value, most, MOST_LINES)) for each in found],
        )
        for name, found in sorts
        if found
    ]


def _evidence(evidence: Evidence, most: int) -> list[RenderableType]:
    sides = [side for side in (evidence.wrong, evidence.right) if side is not None]
    return [hanging(str(side.number), few_lines(_side_in_words(side), most, MOST_LINES)) for side in sides]


def _side_in_words(side: Side) -> str:
    scored = "" if side.score is None else f" ({side.score} of 10)"
    return f"{side.inputs} → {side.outputs}{scored}"


def _listed(title: str, lines: Sequence[RenderableType]) -> RenderableType:
    return Group(Text(title, style="dim"), Padding(Group(*lines), (0, 0, 0, 2), expand=False))


def _unclear(tool: str, one: PromptSet) -> RenderableType:
    return hanging(f"{one.id} {plain(tool, 100)}", plain(one.why, MOST))
