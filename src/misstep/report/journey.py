"""What became of tools' defects when they were put to an agent."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.finding import Journey, Richness, ToolReport
from misstep.core.passage import FATES, Passage
from misstep.core.statistics import wilson
from misstep.core.trial import Trial, Use
from misstep.report.layout import bare_table, section
from misstep.report.statistics import interval
from misstep.report.terminal import percent
from misstep.report.text import plain

MOST_WHY = 300  # characters of a reason

Cells: TypeAlias = Callable[[Journey], list[str]]

STAGES = ("documented", "asked for", "reached")
EFFORT = ("errors", "calls", "calls each", "est. in all", "tokens")


class Survival(msgspec.Struct, frozen=True):
    """How many of the fuzzer's defects got past a stage, out of all that were put to the agent."""

    stage: str
    count: int
    total: int

    @property
    def share(self) -> float | None:
        return self.count / self.total if self.total else None

    @property
    def words(self) -> str:
        ends = wilson(self.count, self.total)
        return f"{self.count} {self.stage} ({percent(self.share)}, {interval(ends)})"


def survivals(journeys: Iterable[Journey]) -> list[Survival]:
    """For each stage, how many defects got past it."""
    defects = [each for journey in journeys for each in journey.passages if each.matter == "defect"]
    counts = (
        sum(each.is_documented for each in defects),
        sum(bool(each.requests) for each in defects),
        sum(each.fate == "reached" for each in defects),
    )
    return [Survival(stage, count, len(defects)) for stage, count in zip(STAGES, counts, strict=True)]


def survival_in_words(tools: Sequence[ToolReport]) -> str:
    """The share of all defects that survives each stage, with its interval; empty where there are none."""
    found = survivals(journeys_of(tools))
    total = found[0].total
    return f"of {total} put to the agent: {', '.join(each.words for each in found)}" if total else ""


def journeys_of(tools: Iterable[ToolReport]) -> list[Journey]:
    return [tool.journey for tool in tools if tool.journey is not None]


def journeys_view(tools: Sequence[ToolReport]) -> RenderableType:
    """A line for each tool that was put to the agent, then what stood in the way of which defect."""
    parts: list[RenderableType] = []
    if told := survival_in_words(tools):
        parts += [_stages_table(tools), Text(f"{told}\n", style="dim")]
    parts.append(_effort_table(tools))
    passages = [passage for journey in journeys_of(tools) for passage in journey.passages]
    lines = [_line(passage) for passage in passages if passage.fate != "reached"]
    return section(_title(tools), Group(*parts, *([Text(), *lines] if lines else [])))


def effort_cells(journey: Journey) -> list[str]:
    """What the headings of `EFFORT` stand for."""
    each = journey.calls_per_error
    return [
        str(journey.unique_errors),
        f"{journey.calls:,}",
        "–" if each is None else f"{each:,.1f}",
        estimate(journey.richness),
        f"{_tokens(journey):,}",
    ]


def stage_cells(journey: Journey) -> list[str]:
    """How many defects were put to the agent, how many got past each stage, and how many stay unclear."""
    found = survivals([journey])
    unclear = sum(each.fate == "inconclusive" for each in journey.passages if each.matter == "defect")
    return [str(found[0].total), *[str(each.count) for each in found], str(unclear)]


def estimate(richness: Richness | None) -> str:
    """How many defects there are by the estimate, with its interval."""
    return f"{richness.estimate:.1f} ({richness.low:.0f}–{richness.high:.0f})" if richness else "–"


def fate_in_words(passage: Passage) -> str:
    """What was put to the agent, and what came of it; requests stand for themselves."""
    what = passage.finding or "; ".join(passage.requests)
    why = f": {plain(passage.why, MOST_WHY)}" if passage.why else ""
    refusal = "refusal " if passage.matter == "refusal" else ""
    return f"{refusal}{plain(what, MOST_WHY) or 'requests'} {passage.fate}{why}"


def journey_as_json(journey: Journey) -> dict[str, object]:
    richness, found = journey.richness, survivals([journey])
    refusals = [each for each in journey.passages if each.matter == "refusal"]
    return {
        "method": journey.method,
        "put_to_the_agent": found[0].total,
        "stages": {each.stage.replace(" ", "_"): _survival_as_json(each) for each in found},
        "fates": {fate: sum(each.fate == fate for each in journey.passages) for fate in FATES},
        "refusals": {"put": len(refusals), "reached": sum(each.fate == "reached" for each in refusals)},
        "left": journey.left,
        "unique_errors": journey.unique_errors,
        "calls": journey.calls,
        "calls_per_error": journey.calls_per_error,
        "chao1": richness and {"estimate": richness.estimate, "low": richness.low, "high": richness.high},
        "tokens": {
            role: {"input": usage.input, "output": usage.output} for role, usage in journey.usage.items()
        },
        "seconds": journey.seconds,
        "passages": [_passage_as_json(passage) for passage in journey.passages],
    }


def _survival_as_json(one: Survival) -> dict[str, object]:
    low, high = wilson(one.count, one.total)
    return {"count": one.count, "share": one.share, "low": low, "high": high}


def _passage_as_json(passage: Passage) -> dict[str, object]:
    return {
        "matter": passage.matter,
        "finding": passage.finding,
        "fate": passage.fate,
        "why": passage.why,
        "requests": list(passage.requests),
        "trials": [_trial_as_json(trial) for trial in passage.trials],
    }


def _trial_as_json(trial: Trial) -> dict[str, object]:
    return {
        "request": trial.request,
        "calls": [_use_as_json(use) for use in trial.uses],
        "answer": trial.answer,
        "ended": trial.ended,
        "error": trial.error,
    }


def _use_as_json(use: Use) -> dict[str, object]:
    judged = use.judged
    return {
        "tool": use.tool,
        "arguments": _read(use.arguments),
        "result": use.result,
        "ruling": judged.ruling,
        "error": judged.error,
        "message": judged.message,
    }


def _read(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:  # a secret in it has been masked
        return arguments


def _title(tools: Sequence[ToolReport]) -> str:
    methods = dict.fromkeys(journey.method for journey in journeys_of(tools))
    return f"through the agent ({', '.join(methods)})"


def _stages_table(tools: Sequence[ToolReport]) -> Table:
    return _table(tools, ("put", *STAGES, "unclear"), stage_cells)


def _effort_table(tools: Sequence[ToolReport]) -> Table:
    return _table(tools, EFFORT, effort_cells)


def _table(tools: Sequence[ToolReport], headings: Sequence[str], cells: Cells) -> Table:
    table = bare_table()
    table.add_column("tool", overflow="fold", min_width=12)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for tool in tools:
        if tool.journey is not None:
            table.add_row(Text(plain(tool.name, 100)), *cells(tool.journey))
    return table


def _tokens(journey: Journey) -> int:
    return sum(usage.input + usage.output for usage in journey.usage.values())


def _line(passage: Passage) -> Text:
    return Text(f"  {fate_in_words(passage)}", style="dim")
