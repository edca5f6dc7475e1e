"""What became of tools' defects when they were put to an agent."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core.finding import Journey, ToolReport
from misstep.core.passage import FATES, Passage
from misstep.report.layout import bare_table, section
from misstep.report.text import plain

MOST_WHY = 300  # characters of a reason


def stages(journey: Journey) -> dict[str, int]:
    """How many defects there were to begin with, and how many survived each stage."""
    passages = journey.passages
    return {
        "crashes": len(passages),
        "documented": sum(_is_documented(passage) for passage in passages),
        "requested": sum(bool(passage.requests) for passage in passages),
        "reached": sum(passage.fate == "reached" for passage in passages),
    }


def journeys_view(tools: Sequence[ToolReport]) -> RenderableType:
    """A line for each tool whose defects were put to the agent, then what stood in the way of which."""
    table = bare_table()
    table.add_column("tool", overflow="fold", min_width=12)
    for heading in ("defects", "documented", "asked for", "reached", "unclear", "calls", "tokens"):
        table.add_column(heading, justify="right", no_wrap=True)
    lines = list[Text]()
    for tool in tools:
        if tool.journey is not None:
            table.add_row(Text(plain(tool.name, 100)), *_cells(tool.journey))
            lines += [_line(passage) for passage in tool.journey.passages if passage.fate != "reached"]
    return section("through the agent", Group(table, *lines))


def journey_as_json(journey: Journey) -> dict[str, object]:
    found, richness = _unique(journey), journey.richness
    return {
        **stages(journey),
        **{fate: sum(passage.fate == fate for passage in journey.passages) for fate in FATES},
        "unique_errors": found,
        "calls": journey.calls,
        "calls_per_error": journey.calls / found if found else None,
        "chao1": richness and {"estimate": richness.estimate, "low": richness.low, "high": richness.high},
        "tokens": {
            role: {"input": usage.input, "output": usage.output} for role, usage in journey.usage.items()
        },
        "seconds": journey.seconds,
        "passages": [_passage_as_json(passage) for passage in journey.passages],
    }


def _passage_as_json(passage: Passage) -> dict[str, object]:
    return {
        "finding": passage.finding,
        "fate": passage.fate,
        "why": passage.why,
        "requests": list(passage.requests),
    }


def _is_documented(passage: Passage) -> bool:
    return bool(passage.requests) or passage.why.startswith("no request")


def _unique(journey: Journey) -> int:
    return len(
        {
            (use.tool, use.judged.signature)
            for trial in journey.trials
            for use in trial.uses
            if use.judged.ruling not in ("fine", "refused", "environment", "schema", "acceptance")
        }
    )


def _cells(journey: Journey) -> list[str]:
    counts = stages(journey)
    tokens = sum(usage.input + usage.output for usage in journey.usage.values())
    unclear = sum(passage.fate == "inconclusive" for passage in journey.passages)
    return [*map(str, counts.values()), str(unclear), f"{journey.calls:,}", f"{tokens:,}"]


def _line(passage: Passage) -> Text:
    why = f": {plain(passage.why, MOST_WHY)}" if passage.why else ""
    return Text(f"  {passage.finding} {passage.fate}{why}", style="dim")
