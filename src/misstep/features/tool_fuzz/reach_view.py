"""Shows which defects of tools an agent can reach."""

from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.results.fuzzing import FATES, AgentReach, ReachAttempt, Richness, ToolReport
from misstep.core.spending import tokens_of
from misstep.core.stats import wilson
from misstep.rendering.layout import hanging, indented, numbers_table, section
from misstep.rendering.terminal import percent
from misstep.rendering.text import plain
from misstep.rendering.trial import picked, richness_as_json, tokens_as_json, trial_as_json, trial_in_words
from misstep.rendering.words import interval

MOST_WHY = 300  # characters of a reason

STAGES = ("documented", "asked for", "reached")
EFFORT = ("errors", "calls", "calls each", "est. total", "tokens")
NOTHING = "–"


class Survival(msgspec.Struct, frozen=True):
    """How many of the fuzzer's defects passed a stage, out of the `total` for which that is known.

    `put` counts all that were tried with the agent. If nothing is known, there is no `count`, perhaps because
    it was not `asked` for.
    """

    stage: str
    count: int | None
    total: int
    put: int
    asked: bool = True

    @property
    def share(self) -> float | None:
        return None if self.count is None or not self.total else self.count / self.total

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.share is None or self.count is None else wilson(self.count, self.total)

    @property
    def words(self) -> str:
        if self.interval is None:
            return f"{NOTHING} {self.stage} ({'not known' if self.asked else 'not asked'})"
        known = "" if self.total == self.put else f" of {self.total}"
        return f"{self.count}{known} {self.stage} ({percent(self.share)}, {interval(self.interval)})"


def survivals(journeys: Iterable[AgentReach]) -> list[Survival]:
    """For each stage, how many defects passed it; unknown ones are not counted."""
    told = list(journeys)
    defects = [each for journey in told for each in journey.passages if each.matter == "defect"]
    has_check = any(journey.method == "toolfuzz" for journey in told)
    asked = any(each.rehearsal is not None for each in defects) or (has_check and not defects)
    judged = [each for each in defects if each.fate != "inconclusive"]
    # If a model or the agent failed, it is not known whether there would have been requests.
    requested = [bool(each.requests) for each in defects if each.requests or each.fate != "inconclusive"]
    return [
        _survival("documented", [each.documented for each in defects], len(defects), asked),
        _survival("asked for", requested, len(defects)),
        _survival("reached", [each.fate == "reached" for each in judged], len(defects)),
    ]


def _survival(stage: str, passed: Sequence[bool | None], put: int, asked: bool = True) -> Survival:
    known = [each for each in passed if each is not None]
    count = sum(known) if known or (asked and not put) else None
    return Survival(stage, count, len(known), put, asked)


def survival_in_words(tools: Sequence[ToolReport]) -> str:
    """The share of all defects that passes each stage, with its interval; empty if there are none."""
    found = survivals(journeys_of(tools))
    put = found[0].put
    return f"of {put} tried with the agent: {', '.join(each.words for each in found)}" if put else ""


def journeys_of(tools: Iterable[ToolReport]) -> list[AgentReach]:
    return [tool.journey for tool in tools if tool.journey is not None]


def journeys_view(tools: Sequence[ToolReport]) -> RenderableType:
    own = [(tool.name, tool.journey) for tool in tools if tool.journey is not None]
    parts: list[RenderableType] = []
    if told := survival_in_words(tools):
        stages = [(name, stage_cells(journey)) for name, journey in own]
        parts += [tools_table(("put", *STAGES, "unclear"), stages), Text(f"{told}\n", style="dim")]
    parts.append(tools_table(EFFORT, [(name, effort_cells(journey)) for name, journey in own]))
    listed = [hanging("·", told) for told in not_reached(tools)]
    title = f"through the agent ({methods_in_words(tools)})"
    return section(title, Group(*parts, *([Text(), *listed] if listed else [])))


def not_reached(tools: Iterable[ToolReport]) -> list[str]:
    """For each defect that natural requests did not reach, its tool and what stopped it."""
    return [
        f"{plain(tool.name, 100)}: {fate_in_words(passage)}"
        for tool in tools
        if tool.journey is not None
        for passage in tool.journey.passages
        if passage.fate != "reached"
    ]


def effort_cells(journey: AgentReach) -> list[str]:
    each = journey.calls_per_error
    return [
        str(journey.unique_errors),
        f"{journey.calls:,}",
        NOTHING if each is None else f"{each:,.1f}",
        estimate(journey.richness),
        f"{tokens_of(journey.usage):,}",
    ]


def stage_cells(journey: AgentReach) -> list[str]:
    """How many defects were tried with the agent, passed each stage, and stay unclear."""
    found = survivals([journey])
    unclear = sum(each.fate == "inconclusive" for each in journey.passages if each.matter == "defect")
    counts = [NOTHING if each.count is None else str(each.count) for each in found]
    return [str(found[0].put), *counts, str(unclear)]


def estimate(richness: Richness | None) -> str:
    return f"{richness.estimate:.1f} ({richness.low:.0f}–{richness.high:.0f})" if richness else NOTHING


def fate_in_words(passage: ReachAttempt) -> str:
    what = passage.finding or "; ".join(passage.requests)
    why = f": {plain(passage.why, MOST_WHY)}" if passage.why else ""
    refusal = "refusal " if passage.matter == "refusal" else ""
    return f"{refusal}{plain(what, MOST_WHY) or 'requests'} {passage.fate}{why}"


def journey_as_json(journey: AgentReach) -> dict[str, object]:
    found = survivals([journey])
    refusals = [each for each in journey.passages if each.matter == "refusal"]
    return {
        "method": journey.method,
        "put_to_the_agent": found[0].put,
        "stages": {each.stage.replace(" ", "_"): _survival_as_json(each) for each in found},
        "fates": {fate: sum(each.fate == fate for each in journey.passages) for fate in FATES},
        "refusals": {"put": len(refusals), "reached": sum(each.fate == "reached" for each in refusals)},
        **picked(journey, "left", "unique_errors", "calls", "calls_per_error"),
        "chao1": richness_as_json(journey.richness),
        "tokens": tokens_as_json(journey.usage),
        "seconds": journey.seconds,
        "passages": [passage_as_json(passage) for passage in journey.passages],
    }


def _survival_as_json(one: Survival) -> dict[str, object]:
    low, high = one.interval or (None, None)
    return {"count": one.count, "of": one.total, "share": one.share, "low": low, "high": high}


def passage_as_json(passage: ReachAttempt) -> dict[str, object]:
    return {
        **picked(passage, "matter", "finding", "fate", "why", "documented"),
        "rehearsal": passage.rehearsal and trial_as_json(passage.rehearsal),
        "requests": list(passage.requests),
        "trials": [trial_as_json(trial) for trial in passage.trials],
    }


def passage_view(passage: ReachAttempt) -> RenderableType:
    lines: list[RenderableType] = [Text(fate_in_words(passage))]
    if passage.rehearsal is not None:
        told = "instructed to make exactly these calls on inert tools, the agent made them"
        lines.append(Text(told, style="dim"))
        lines += [indented(line) for line in trial_in_words(passage.rehearsal)]
    return section("through the agent", Group(*lines))


def methods_in_words(tools: Sequence[ToolReport]) -> str:
    return ", ".join(dict.fromkeys(journey.method for journey in journeys_of(tools)))


def tools_table(headings: Iterable[str], rows: Iterable[tuple[str, Sequence[Text | str]]]) -> Table:
    table = numbers_table("tool", headings)
    for name, cells in rows:
        table.add_row(Text(plain(name, 100)), *cells)
    return table
