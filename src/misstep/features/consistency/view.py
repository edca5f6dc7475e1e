"""Shows the results of consistency tests on the terminal, as JSON and in the HTML page."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs, to_builtins
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from misstep.core.outcome import Judgement
from misstep.core.results.consistency import (
    Bucket,
    Buckets,
    ConsistencyReport,
    ConsistencyRun,
    Evidence,
    PromptSet,
    Score,
    Side,
    group_sets,
)
from misstep.rendering.html.markup import Markup, Row, element, grid, lines, text
from misstep.rendering.html.page import PartPage
from misstep.rendering.html.sections import page_section
from misstep.rendering.layout import Trimmed, beneath, hanging, indented, numbers_table, section
from misstep.rendering.terminal import STYLES, counted
from misstep.rendering.text import few_lines, plain
from misstep.rendering.trial import deeds_as_json, picked, tokens_as_json, unanswered

MOST = 500  # characters of a text in a list
WHOLE = 4_000  # where a set is shown in full
MOST_LINES = 12  # of the arguments or the result of a tool
NONE_FAILED = "no set failed"
HEADINGS = ("sets", "failed", "passed", "inconclusive", "groups", "calls", "tokens")
ENDINGS = {"done": "", "time": "time ran out before all sets were made", "stopped": "stopped early"}


def consistency_view(report: ConsistencyRun, again: str, place: str = "") -> RenderableType:
    """`again` and `place` come before and after a set in the command that replays it."""
    table = numbers_table("tool", HEADINGS)
    for tool in report.tools:
        cells = [Text(count) for count in counts_of(tool)]
        cells[1].stylize("red" if tool.faulty else "green")
        table.add_row(Text(plain(tool.name, 100)), *cells)
    parts: list[RenderableType] = [table]
    parts += beneath([(tool.name, tool.sandbox, remarks(tool)) for tool in report.tools])
    for tool in report.tools:
        for each in tool.faulty:
            command = indented(f"Replay: {again}/{each.id}{place}", "dim")
            parts += [Text(), set_view(each, tool.name), command]
    unclear = [
        hanging(f"{each.id} {plain(tool.name, 100)}", plain(each.why, MOST))
        for tool in report.tools
        for each in tool.having("inconclusive")
    ]
    if not any(tool.faulty for tool in report.tools):
        outcome = nothing_failed(report.tools)
        parts += [Text(), Text(outcome, style="green" if outcome == NONE_FAILED else "yellow")]
    if unclear:
        parts.append(section("inconclusive", Group(*unclear)))
    return Trimmed(Group(*parts))


def nothing_failed(tools: Sequence[ConsistencyReport]) -> str:
    """That nothing failed; a tool without judged sets is named, since nothing is known about it."""
    unclear = sum(len(tool.having("inconclusive")) for tool in tools)
    rest = f"; {counted(unclear, 'set')} could not be judged" if unclear else ""
    unknown = [plain(tool.name, 100) for tool in tools if tool.verdict == "inconclusive"]
    if unknown:
        rest += f"; nothing is known about {', '.join(unknown)}"
    return f"{NONE_FAILED}{rest}"


def set_view(one: PromptSet, tool: str, most: int = MOST) -> RenderableType:
    """A set with its numbered requests, and everything that its verdict is based on."""
    head = Text(one.verdict, style=STYLES[one.verdict])
    head.append(f"  {plain(tool, 100)}", style="bold")
    head.append(f"  {plain(one.why, most)}")
    parts: list[RenderableType] = []
    if one.template:
        parts.append(Text(f"template: {plain(one.template, most)}"))
    parts += [hanging(f"{number}", plain(request, most)) for number, request in enumerate(one.requests, 1)]
    parts += _buckets(one.buckets, "", most)
    if one.normalised is not None:
        parts += _buckets(one.normalised, ", ignoring irrelevant differences", most)
    if one.expectation is not None:
        expected = "expected (a guess)" if one.expectation.guessed else "expected"
        parts.append(Text(f"{expected}: {plain(one.expectation.statement, most)}"))
    if one.scores:
        lines = [hanging(str(score.request), plain(score_in_words(score), most)) for score in one.scores]
        parts.append(_listed("scores", lines))
    if one.evidence is not None:
        sides = list[RenderableType]()
        for side in _sides(one.evidence):
            scored = "" if side.score is None else f" ({side.score} of 10)"
            said = few_lines(f"{side.inputs} → {side.outputs}{scored}", most, MOST_LINES)
            sides.append(hanging(str(side.number), said))
        parts.append(_listed("the pair that differs", sides))
    return Trimmed(Group(head, Padding(Group(*parts), (0, 0, 0, 2), expand=False)))


def set_detail(one: PromptSet, tool: str) -> RenderableType:
    """The same with the agent's answers, and what was expected for each request."""
    parts: list[RenderableType] = [set_view(one, tool, WHOLE)]
    if one.trials:
        said = [
            hanging(str(number), plain(trial.answer or trial.error or trial.ended, WHOLE))
            for number, trial in enumerate(one.trials, 1)
        ]
        parts.append(section("agent answers", Group(*said)))
    if one.expectation is not None:
        expected = [Text(plain(answer, WHOLE)) for answer in one.expectation.answers]
        parts.append(section("expected", Group(*expected)))
    return Trimmed(Group(*parts))


def remarks(tool: ConsistencyReport) -> list[str]:
    groups = [f"{each.differs} ({counted(len(each.sets), 'set')})" for each in group_sets(tool.sets)]
    differing = [f"what differs: {'; '.join(groups)}"] if groups else []
    silent = unanswered([trial for each in tool.sets for trial in each.trials])
    return [*tool.notes, *filter(None, [ENDINGS[tool.ended]]), *silent, *differing]


def score_in_words(score: Score) -> str:
    """The score; both scores and the reasons if there were two."""
    if score.second is None:
        return f"{score.score} of 10: {score.reason}"
    return f"{score.score} of 10: {score.reason}; asked again, {score.second}: {score.second_reason}"


def numbers_of(bucket: Bucket) -> str:
    return "{" + ", ".join(map(str, bucket.requests)) + "}"


def counts_of(tool: ConsistencyReport) -> tuple[str, ...]:
    verdicts = [len(tool.having(verdict)) for verdict in ("failed", "passed", "inconclusive")]
    groups = len(group_sets(tool.sets))
    return tuple(f"{count:,}" for count in (len(tool.sets), *verdicts, groups, tool.calls, tool.tokens))


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


def _sides(evidence: Evidence) -> list[Side]:
    return [side for side in (evidence.wrong, evidence.right) if side is not None]


def _listed(title: str, lines: Sequence[RenderableType]) -> RenderableType:
    return Group(Text(title, style="dim"), Padding(Group(*lines), (0, 0, 0, 2), expand=False))


_VERDICTS: tuple[Judgement, ...] = ("failed", "passed", "inconclusive")


def consistency_as_json(report: ConsistencyRun) -> dict[str, Any]:
    verdicts = [each.verdict for each in report.sets]
    return {
        "run": report.run,
        "specs": list(report.specs),
        "seconds": round(report.seconds, 3),
        "sets": len(verdicts),
        **{verdict: verdicts.count(verdict) for verdict in _VERDICTS},
        "tools": [_tool_as_json(tool) for tool in report.tools],
    }


def set_as_json(one: PromptSet, tool: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "tool": tool,
        **picked(one, "verdict", "why", "template"),
        "infills": {name: list(words) for name, words in one.infills.items()},
        "requests": list(one.requests),
        "trials": [{"ended": trial.ended, **deeds_as_json(trial)} for trial in one.trials],
        "buckets": to_builtins(one.buckets),
        "normalised": to_builtins(one.normalised),
        "expectation": to_builtins(one.expectation),
        "scores": [
            {
                **picked(score, "request", "score", "reason"),
                "second": None
                if score.second is None
                else {"score": score.second, "reason": score.second_reason},
                **picked(score, "says", "guess"),
            }
            for score in one.scores
        ],
        "evidence": one.evidence
        and {
            "wrong": structs.asdict(one.evidence.wrong),
            "right": one.evidence.right and structs.asdict(one.evidence.right),
        },
    }


def _tool_as_json(tool: ConsistencyReport) -> dict[str, Any]:
    return {
        **picked(tool, "name", "verdict"),
        "method": "toolfuzz" if tool.means == "sets" else tool.means,
        "checks": list(tool.checks),
        **{verdict: len(tool.having(verdict)) for verdict in _VERDICTS},
        "groups": [picked(each, "differs", "sets") for each in group_sets(tool.sets)],
        "calls": tool.calls,
        "tokens": tokens_as_json(tool.usage),
        **picked(tool, "seconds", "ended", "notes", "sandbox"),
        "sets": [set_as_json(each, tool.name) for each in tool.sets],
    }


MOST_ON_PAGE = 4_000  # characters of a text


def faulty_sets(report: ConsistencyRun, place: str) -> Iterator[Markup]:
    """The sections of the page; `place` is the part of a command that names the store."""
    failed = [(tool.name, each) for tool in report.tools for each in tool.faulty]
    if failed:
        sets = sum(len(tool.sets) for tool in report.tools)
        told = element("p", f"{len(failed)} of {counted(sets, 'set')} failed", class_="rate bad")
        shown = [_set(each, name, f"misstep replay {report.run}/{each.id}{place}") for name, each in failed]
        yield element("section", told, *shown)
    else:
        yield element("p", text(nothing_failed(report.tools)), class_="rate")
    unclear = [(tool.name, each) for tool in report.tools for each in tool.having("inconclusive")]
    if unclear:
        rows = [Row((_link(each), text(name, 100), text(each.why))) for name, each in unclear]
        yield page_section("Inconclusive", grid(("set", "tool", "why"), rows, names=3))
    rows = [Row((text(tool.name, 100), *counts_of(tool))) for tool in report.tools]
    noted = [(tool.name, said) for tool in report.tools if (said := remarks(tool))]
    notes = [element("p", text(f"{name}: {'; '.join(said)}"), class_="caption") for name, said in noted]
    yield page_section("Tools", grid(("tool", *HEADINGS), rows), *notes)


def set_page(report: ConsistencyRun, tool: str, one: PromptSet, place: str) -> PartPage:
    order = [each.id for each_tool in report.tools for each in each_tool.sets]
    again = f"misstep replay {report.run}/{one.id}{place}"
    return PartPage.among(order, one.id, f"{one.verdict}: requests to {plain(tool, 100)}", _body(one, again))


def _set(one: PromptSet, tool: str, again: str) -> Markup:
    failed = element("b", one.verdict, class_="bad")
    about = text(one.template or one.why, MOST_ON_PAGE)
    head = element("summary", failed, " ", text(tool, 100), " · ", about)
    return element("details", head, *_body(one, again), open="open", id=one.id, data_part=f"sets/{one.id}")


def _body(one: PromptSet, again: str) -> list[Markup]:
    requests = [element("li", text(request, MOST_ON_PAGE)) for request in one.requests]
    parts = [element("p", text(one.why, MOST_ON_PAGE)), element("ol", *requests)]
    parts += _bucket_tables(one.buckets, "")
    if one.normalised is not None:
        parts += _bucket_tables(one.normalised, ", ignoring irrelevant differences")
    if one.expectation is not None:
        heading = "Expected (a guess)" if one.expectation.guessed else "Expected"
        parts.append(element("p", f"{heading}: ", text(one.expectation.statement, MOST_ON_PAGE)))
    if one.scores:
        scores = [Row((str(each.request), text(score_in_words(each), MOST_ON_PAGE))) for each in one.scores]
        parts.append(grid(("request", "score"), scores, names=2))
    if one.evidence is not None:
        rows = list[Row]()
        for side in _sides(one.evidence):
            given, got = _as_it_was(side.inputs), _as_it_was(side.outputs)
            rows.append(Row((str(side.number), given, got, text(side.answer, MOST_ON_PAGE))))
        headings = ("request", "input", "output", "answer")
        parts.append(grid(headings, rows, names=4, caption="the pair that differs"))
    return [*parts, element("pre", lines(plain(again)), class_="command")]


def _link(one: PromptSet) -> Markup:
    return element("code", one.id, data_part=f"sets/{one.id}")


def _bucket_tables(buckets: Buckets, how: str) -> Iterator[Markup]:
    for name, found in (("inputs", buckets.inputs), ("outputs", buckets.outputs)):
        if found:
            rows = [Row((numbers_of(each), _as_it_was(each.value))) for each in found]
            yield grid(("requests", name), rows, names=2, caption=f"buckets of {name}{how}")


def _as_it_was(value: str) -> Markup:
    return element("span", lines(value, MOST_ON_PAGE), class_="lines")
