"""Compares methods of finding errors in tools, and shows Table 1 of the ToolFuzz paper with the results."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misstep.core.event import Listener
from misstep.core.model import ModelError
from misstep.core.results.consistency import CHECKS, Check, ConsistencyReport, ConsistencyRun, group_sets
from misstep.core.results.fuzzing import FuzzReport, Richness, ToolReport, errors_in
from misstep.core.results.label import Rate
from misstep.core.settings import Settings, StoreSettings
from misstep.core.settings.reading import check_settings
from misstep.core.stats import wilson
from misstep.errors import BudgetExceeded, Interrupted, UsageError
from misstep.features.consistency.run import check_consistency, view_consistency
from misstep.features.tool_fuzz.run import fuzz_tools, view_fuzzing
from misstep.fuzzing.agent_tests.harvest import richness_of
from misstep.fuzzing.consistency.inquiry import judge_again
from misstep.fuzzing.triage.defect_index import chao1
from misstep.models.throttle import Throttles
from misstep.rendering.layout import Trimmed, bare_table, section
from misstep.rendering.terminal import counted, percent
from misstep.rendering.text import plain
from misstep.runs.setup.agent_session import refuse_missing
from misstep.runs.setup.workbenches import TOGETHER
from misstep.store.runs import Run, Store

Method = Literal["whitebox", "greybox", "no-sanity", "consistency", "judge", "toolfuzz"]


class MethodResult(msgspec.Struct, frozen=True):
    """The results of one method over all tools.

    `calls` are those that the agent made. `total` estimates how many errors the method could find. `fdr` is
    the share of labelled discoveries that people say are not errors; None if there are no labels. `notes` are
    those of the run, each with its tool.
    """

    method: Method
    run: str
    unique_errors: int
    calls: int
    total: Richness | None
    fdr: Rate | None = None
    notes: tuple[str, ...] = ()

    @property
    def calls_per_error(self) -> float | None:
        return self.calls / self.unique_errors if self.unique_errors else None


class MethodComparison(msgspec.Struct, frozen=True):
    """Every method on the same tools, for runtime errors and for wrong answers.

    `fuzzer_calls` are calls made by fuzzing without the agent, by run.
    """

    specs: tuple[str, ...]
    tools: int
    runtime: tuple[MethodResult, ...] = ()
    correctness: tuple[MethodResult, ...] = ()
    fuzzer_calls: dict[str, int] = {}


Layer: TypeAlias = Mapping[str, Any]

# The settings that distinguish the runs.
RUNTIME: Mapping[Method, Layer] = {
    "whitebox": {"tool_method": "whitebox", "skip_sanity": False},
    "greybox": {"tool_method": "greybox", "skip_sanity": False},
    "no-sanity": {"tool_method": "toolfuzz", "skip_sanity": True},
    "toolfuzz": {"tool_method": "toolfuzz", "skip_sanity": False},
}
# In the last run the judge alone decides and sees every set; the other variants can be computed from it.
CORRECTNESS: Mapping[Method, Layer] = {
    "whitebox": {"tool_method": "whitebox", "checks": CHECKS},
    "greybox": {"tool_method": "greybox", "checks": CHECKS},
    "toolfuzz": {"tool_method": "toolfuzz", "checks": ("judge",)},
}
VARIANTS: Mapping[Method, tuple[Check, ...]] = {
    "consistency": ("inputs", "outputs"),
    "judge": ("judge",),
    "toolfuzz": CHECKS,
}
COMMAND = "misstep paper toolfuzz"


def compare_methods(
    settings: Settings, specs: Sequence[str], used: Sequence[str], *listeners: Listener
) -> MethodComparison:
    """Try each method on the tools, one after the other, each within the same limits.

    `used` are finished runs to reuse instead of new ones; without specs, no new runs are made.
    """
    if specs:
        refuse_missing(check_settings(settings))
    found, rate_limiters = _Runs(settings, used), Throttles()
    fuzzed, checked = dict[Method, FuzzReport](), dict[Method, ConsistencyRun]()
    try:
        for method, layer in RUNTIME.items():
            if run := found.take("fuzz", layer):
                fuzzed[method] = view_fuzzing(settings, run.id)
            elif specs:
                layered = settings.overlay(layer)
                fuzzed[method] = fuzz_tools(layered, specs, *listeners, rate_limiters=rate_limiters)
        for method, layer in CORRECTNESS.items():
            if run := found.take("consistency", layer):
                checked[method] = view_consistency(settings, run.id)
            elif specs:
                layered = settings.overlay(layer)
                checked[method] = check_consistency(layered, specs, *listeners, rate_limiters=rate_limiters)
    except (Interrupted, BudgetExceeded, ModelError) as error:
        uses = "".join(f" --use {run}" for run, _ in _parts(fuzzed, checked))
        error.hints = (*error.hints, f"then, with the rest: {COMMAND} SPEC …{uses} --use RUN")
        raise
    found.refuse_rest()
    with Store(settings.store) as store:
        return _compared(store, fuzzed, checked)


class _Runs:
    """Finished runs that the user names, each used once."""

    def __init__(self, settings: StoreSettings, names: Sequence[str]) -> None:
        self._left = list[Run]()
        if names:
            with Store(settings.store) as store:
                self._left = [store.find_run(name) for name in dict.fromkeys(names)]
        for run in self._left:
            if run.purpose.verb not in ("fuzz", "consistency") or not run.summary or not run.settings.agent:
                hint = "expected runs of misstep tool fuzz --agent and misstep tool consistency"
                message = f"run {run.id} is not a finished test of tools through an agent"
                raise UsageError(message, hint, where="--use")
        if len({(run.purpose.tools, run.settings.agent, run.settings.model) for run in self._left}) > 1:
            hint = "methods are compared on the same tools, with the same agent and the same model"
            raise UsageError("these runs differ in tools, agent or model", hint, where="--use")

    def take(self, verb: str, layer: Layer) -> Run | None:
        for run in self._left:
            same = all([getattr(run.settings, name) == value for name, value in layer.items()])
            if run.purpose.verb == verb and same:
                self._left.remove(run)
                return run
        return None

    def refuse_rest(self) -> None:
        for run in self._left:
            hint = "use one run per method; sets must be judged with --checks judge"
            raise UsageError(f"run {run.id} can't be used in the comparison", hint, where="--use")


def _compared(
    store: Store, fuzzed: Mapping[Method, FuzzReport], checked: Mapping[Method, ConsistencyRun]
) -> MethodComparison:
    right = list[MethodResult]()
    for method, run in checked.items():
        variants = VARIANTS if method == "toolfuzz" else {method: None}
        right += [_on_answers(store, each, run, checks) for each, checks in variants.items()]
    specs = [spec for report in fuzzed.values() for spec in report.specs]
    specs += [spec for run in checked.values() for spec in run.specs]
    return MethodComparison(
        tuple(dict.fromkeys(specs)),
        max((len(names) for _, names in _parts(fuzzed, checked)), default=0),
        tuple(_at_run_time(method, report) for method, report in fuzzed.items()),
        tuple(right),
        {each.run: sum(tool.calls + tool.triage_calls for tool in each.tools) for each in fuzzed.values()},
    )


def _at_run_time(method: Method, report: FuzzReport) -> MethodResult:
    trials = [trial for tool in report.tools if tool.journey for trial in tool.journey.trials]
    calls, errors = sum(len(trial.uses) for trial in trials), len(errors_in(trials))
    return MethodResult(method, report.run, errors, calls, richness_of(trials), notes=_notes(report.tools))


def _on_answers(
    store: Store, method: Method, run: ConsistencyRun, checks: tuple[Check, ...] | None
) -> MethodResult:
    judged = [
        tool.sets if checks is None else [judge_again(each, checks) for each in tool.sets]
        for tool in run.tools
    ]
    sizes = [len(group.sets) for sets in judged for group in group_sets(sets)]
    failed = {each.id for sets in judged for each in sets if each.verdict == "failed"}
    late = [tool.name for tool in run.tools if tool.ended == "time"]
    too_late = [f"{name}: time ran out before all sets were made" for name in late]
    return MethodResult(
        method,
        run.run,
        len(sizes),
        sum(tool.calls for tool in run.tools),
        chao1(sizes) if sizes else None,
        _false_discoveries(store, run.run, failed),
        (*_notes(run.tools), *too_late),
    )


def _notes(tools: Iterable[ToolReport | ConsistencyReport]) -> tuple[str, ...]:
    return tuple(f"{tool.name}: {note}" for tool in tools for note in tool.notes)


def _false_discoveries(store: Store, run: str, failed: set[str]) -> Rate | None:
    """The share of labelled discoveries that people say are not errors.

    Labels are drawn by the verdicts of the run, so discoveries of other methods are not sampled evenly.
    """
    said = dict[str, list[bool]]()
    for label in store.labels(run):
        if label.item in failed:
            said.setdefault(label.item, []).append(label.erroneous)
    # One opinion for each item, that of the majority; ties are ignored.
    most = [2 * sum(each) - len(each) for each in said.values()]
    wrong, decided = sum(each < 0 for each in most), sum(each != 0 for each in most)
    return Rate(wrong, decided, wrong / decided, wilson(wrong, decided)) if decided else None


def _parts(
    fuzzed: Mapping[Method, FuzzReport], checked: Mapping[Method, ConsistencyRun]
) -> list[tuple[str, list[str]]]:
    """Every run with its tools, without targets of several tools."""
    parts = [(report.run, [tool.name for tool in report.tools]) for report in fuzzed.values()]
    parts += [(run.run, [tool.name for tool in run.tools]) for run in checked.values()]
    return [(run, [name for name in names if not name.startswith(TOGETHER)]) for run, names in parts]


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
    return Trimmed(Group(*parts, *[Text(line, style="dim") for line in _footnotes(comparison)]))


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


def _footnotes(comparison: MethodComparison) -> list[str]:
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
