"""Shows Table 1 of the ToolFuzz paper, its own figures next to the measured ones."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Literal

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.features.papers.toolfuzz import MethodComparison, MethodResult
from misstep.rendering.layout import Trimmed, bare_table, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import plain

LIBRARIES = ("LangChain", "Composio")
NOTHING = "–"
NAMES = {
    "whitebox": "whitebox",
    "greybox": "greybox",
    "no-sanity": "toolfuzz, no sanity check",
    "consistency": "toolfuzz, consistency only",
    "judge": "toolfuzz, judge only",
    "toolfuzz": "toolfuzz",
}


class PublishedMethod(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unique_errors: tuple[int, int]
    total: tuple[tuple[int, int], tuple[int, int]]
    calls_per_error: tuple[int, int] | None = None
    fdr: tuple[float, float] | None = None


class ToolFuzzPaper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    runtime: Mapping[str, PublishedMethod]
    correctness: Mapping[str, PublishedMethod]


@cache
def load_paper() -> ToolFuzzPaper:
    text = resources.files(__package__).joinpath("data/toolfuzz.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), ToolFuzzPaper)


def methods_view(comparison: MethodComparison) -> RenderableType:
    paper, parts = load_paper(), list[RenderableType]()
    if comparison.runtime:
        parts.append(section("errors at run time", _table("TC/UE", comparison.runtime, paper.runtime)))
    if comparison.correctness:
        parts.append(section("wrong answers", _table("FDR", comparison.correctness, paper.correctness)))
    return Trimmed(Group(*parts, *[Text(line, style="dim") for line in _notes(comparison)]))


def methods_as_json(comparison: MethodComparison) -> dict[str, object]:
    return {
        "specs": list(comparison.specs),
        "tools": comparison.tools,
        "runtime": list(map(_as_json, comparison.runtime)),
        "correctness": list(map(_as_json, comparison.correctness)),
        "fuzzer_calls": comparison.fuzzer_calls,
    }


def _as_json(result: MethodResult) -> dict[str, object]:
    told: dict[str, object] = msgspec.to_builtins(result)
    return {**told, "calls_per_error": result.calls_per_error}


def _table(
    measure: Literal["TC/UE", "FDR"], results: Sequence[MethodResult], paper: Mapping[str, PublishedMethod]
) -> Table:
    """Measured results, with the measure that only this kind of errors has, then the paper's."""
    table = bare_table()
    for heading in ("method", "run"):
        table.add_column(heading, no_wrap=True)
    for heading in ("UE", measure, "TUE-CI"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        often = result.calls_per_error
        own = _labelled(result) if measure == "FDR" else NOTHING if often is None else f"{often:,.1f}"
        total = f"[{result.total.low:.0f}, {result.total.high:.0f}]" if result.total else NOTHING
        table.add_row(NAMES[result.method], result.run, str(result.unique_errors), own, total)
    for place, library in enumerate(LIBRARIES):
        for method, said in paper.items():
            own = NOTHING
            if measure == "FDR" and said.fdr:
                own = f"{said.fdr[place]:.2f}"
            elif measure == "TC/UE" and said.calls_per_error:
                own = str(said.calls_per_error[place])
            low, high = said.total[place]
            errors = str(said.unique_errors[place])
            table.add_row(NAMES[method], f"paper: {library}", errors, own, f"[{low}, {high}]", style="dim")
    return table


def _labelled(result: MethodResult) -> str:
    if result.fdr is None or result.fdr.share is None:
        return NOTHING
    low, high = result.fdr.interval
    return f"{result.fdr.share:.2f} ({percent(low)} to {percent(high)})"


def _notes(comparison: MethodComparison) -> list[str]:
    specs = plain(", ".join(comparison.specs))
    told = [
        "",
        f"{counted(comparison.tools, 'tool')} of {specs}",
        "UE: unique errors; TC/UE: calls of tools for each; TUE-CI: 95 % interval of all that can be found",
    ]
    made = sum(comparison.fuzzer_calls.values())
    told += [f"TC counts the agent's calls; fuzzing made {made:,} more"] if made else []
    if comparison.correctness:
        told.append(
            "wrong answers with the same differing evidence count as one error, which is an approximation"
        )
        if any([result.method == "consistency" and result.fdr for result in comparison.correctness]):
            told.append(
                "FDR of consistency only is a rough estimate: labels are sampled from what the judge calls "
                "erroneous, so sets that it passes are under-represented and unjudged ones are missing"
            )
        if all([result.fdr is None for result in comparison.correctness]):
            told.append("FDR needs people: misstep label RUN, then this command with --use RUN for every run")
    # Rows of the same run share its notes.
    notes = {result.run: result.notes for result in (*comparison.runtime, *comparison.correctness)}
    return [*told, *(f"{run}: {plain(note)}" for run, some in notes.items() for note in some)]
