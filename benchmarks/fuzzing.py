"""Measures how many defects are found in how many calls, by misstep and by simpler fuzzers."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.fuzzing_baselines import Tally
from benchmarks.measure import Effort, Mark, Row
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.runs.setup.workbenches import TOGETHER
from tests.quality.planted_tools.labels import DEEP, Label
from tests.quality.planted_tools.labels import PLANTED as LABELS

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-tools" / "bin" / "python"
CALLS = 300  # per tool; ToolFuzz's fuzzer finds nothing more after ten
MORE_CALLS = 1_000  # for defects that are harder to reach
SEEDS = 3
SPEED_CALLS = 60_000
PEER_SPEED = 2_147  # calls per second to a tool that does nothing, without a sandbox
# ToolFuzz's public fuzzer on the same 17 tools of langchain-community 0.3.19, measured November 2026: unique
# errors at 1,000 calls of each, mean of five seeds.
PUBLISHED = {
    "file_delete": 1,
    "move_file": 1,
    "read_file": 1,
    "requests_delete": 2,
    "requests_get": 2,
    **dict.fromkeys(("copy_file", "file_search", "list_directory", "write_file"), 0),
    **dict.fromkeys(("terminal", "Python_REPL", "python_repl_ast"), 0),
    **dict.fromkeys(("json_spec_list_keys", "json_spec_get_value"), 0),
    **dict.fromkeys(("requests_patch", "requests_post", "requests_put"), 0),
}
PLANTED = tuple(
    f"tests/quality/planted_tools/{name}_tools.py:tools"
    for name in ("text", "number", "data", "file", "state", "limit")
)
DEEPER = tuple(dict.fromkeys(f"tests/quality/planted_tools/{each.module}.py:tools" for each in DEEP))
_FAMILIES = tuple(dict.fromkeys(each.family for each in DEEP))
LANGCHAIN = tuple(
    f"tests/third_party/langchain_{name}.py:tools" for name in ("files", "json", "requests", "shell")
)
Error = tuple[str, str]  # the tool, and the error
Wanted = Callable[[Error], bool]
OUTRIGHT = {"hang": "hang", "blow-up": "memory"}
BASELINES = {"schema": "plain schema-driven Hypothesis", "type": "random values by type"}


class Contest(NamedTuple):
    """Tools for all fuzzers, and which errors count. `published` is the number that ToolFuzz found."""

    title: str
    specs: Sequence[str]
    wanted: Wanted
    published: int | None = None


class Score(NamedTuple):
    """Unique errors and calls of all tools, averaged over the seeds."""

    errors: float
    calls: float

    @property
    def calls_per_error(self) -> float:
        return self.calls / self.errors if self.errors else float("inf")


def fuzzing_rows(effort: Effort) -> Iterator[Row]:
    if not PYTHON.exists() or not shutil.which("bwrap"):
        yield from _missing_rows()
        return
    calls, seeds = effort.size(CALLS), effort.times(SEEDS)
    yield from _compared(Contest("planted defects", PLANTED, is_planted), calls, seeds)
    yield from _compared(
        Contest("17 LangChain tools", LANGCHAIN, lambda _: True, sum(PUBLISHED.values())), calls, seeds
    )
    yield from speed_rows(effort)


def _compared(contest: Contest, calls: int, seeds: int) -> Iterator[Row]:
    title, specs, wanted, published = contest
    reports = fuzzed(tuple(specs), calls, seeds)
    ours = score_of_reports(
        [[report for report in run if not report.name.startswith(TOGETHER)] for run in reports], wanted
    )
    how = f"{calls:,} calls of each tool, mean of {seeds} seeds; exceptions by type and place, hangs, deaths"
    yield Row(f"{title}: misstep", ours.errors, "unique errors", how)
    yield Row(f"{title}: misstep", ours.calls_per_error, "calls/error", how)
    tallies = run_baselines(specs, calls, seeds)
    for method, words in BASELINES.items():
        theirs = score_of_tallies([tally for tally in tallies if tally.method == method], wanted)
        yield from _against(title, words, ours, theirs)
    if published is not None:
        score = Score(published, calls * len(PUBLISHED))
        yield from _against(title, "ToolFuzz, as published", ours, score)
    beside = sum(error_of(finding) is None for report in reports[0] for finding in report.findings)
    how = "what results tell, breaches of schemas, forbidden values taken; one seed"
    yield Row(f"{title}: found beside those", beside, "defects", how)


def _against(title: str, words: str, ours: Score, theirs: Score) -> Iterator[Row]:
    how = "same tools, same number of calls, same definition of an error, same run"
    yield Row(f"{title}: {words}", theirs.errors, "unique errors", how)
    yield Row(f"{title}: its errors ÷ misstep's", theirs.errors / ours.errors, "×", words, Mark("<", 1))
    ratio = ours.calls_per_error / theirs.calls_per_error
    yield Row(f"{title}: misstep's calls/error ÷ its", ratio, "×", words, Mark("<", 1))


def speed_rows(effort: Effort) -> Iterator[Row]:
    """Calls per second to a tool that does nothing."""
    calls = effort.size(SPEED_CALLS)
    (report,) = fuzz(["benchmarks/fuzzing_subject.py:nothing"], calls, 0, python="")
    how = f"{calls:,} calls within bubblewrap, by the clock, generation, coverage and judging included"
    yield Row(
        "fuzzing a tool that does nothing", report.calls / report.seconds, "calls/s", how, Mark("≥", 5_000)
    )
    yield Row(
        "ToolFuzz, as published", PEER_SPEED, "calls/s", "measured November 2026, outside of any sandbox"
    )


def _missing_rows() -> Iterator[Row]:
    how = f"needs bubblewrap and {PYTHON.parent.parent.name}"
    for words in BASELINES.values():
        yield Row(f"planted defects: {words} ÷ misstep", None, "×", how, Mark("<", 1))
    yield Row("fuzzing a tool that does nothing", None, "calls/s", how, Mark("≥", 5_000))


@cache
def fuzzed(specs: tuple[str, ...], calls: int, seeds: int) -> list[list[ToolReport]]:
    """What misstep finds, for each seed."""
    return [fuzz(specs, calls, seed) for seed in range(seeds)]


def fuzz(specs: Sequence[str], calls: int, seed: int, python: str = str(PYTHON)) -> list[ToolReport]:
    """What misstep finds in a number of calls to each tool."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            store=f"{folder}/store.db",
            calls_per_tool=calls,
            time_per_tool=120.0,
            timeout=1.0,
            memory=1024,
            jobs=2,
            seed=seed,
            python=python,
            sandbox="bubblewrap",
        )
        return [report for spec in specs for report in fuzz_tools(settings, [spec]).tools]


def run_baselines(specs: Sequence[str], calls: int, seeds: int) -> list[Tally]:
    """What simple fuzzers find, also in bubblewrap."""
    with tempfile.TemporaryDirectory() as folder:
        walls = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"]
        walls += ["--proc", "/proc", "--bind", folder, folder, "--chdir", folder]
        walls += ["--setenv", "PYTHONPATH", f"{ROOT}:{ROOT / 'src'}"]
        program = [str(PYTHON), "-W", "ignore", "-m", "benchmarks.fuzzing_baselines", str(calls), str(seeds)]
        command = [*walls, *program, *[str(ROOT / spec) for spec in specs]]
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [msgspec.json.decode(line, type=Tally) for line in answer.stdout.splitlines()]


def score_of_tallies(tallies: Sequence[Tally], wanted: Wanted) -> Score:
    seeds = len({tally.seed for tally in tallies})
    errors = [error for tally in tallies for error in errors_of_tally(tally) if wanted(error)]
    return Score(len(errors) / seeds, sum(tally.calls for tally in tallies) / seeds)


def score_of_reports(runs: Sequence[Sequence[ToolReport]], wanted: Wanted) -> Score:
    reports = [report for run in runs for report in run]
    found = [{error_of(finding) for finding in report.findings} for report in reports]
    errors = [error for each in found for error in each if error and wanted(error)]
    return Score(len(errors) / len(runs), sum(report.calls for report in reports) / len(runs))


def errors_of_tally(tally: Tally) -> set[Error]:
    return {(tally.tool, error) for error in tally.found}


def error_of(finding: Finding) -> Error | None:
    """A finding as simple fuzzers name it; None if they can't detect it, such as an error in a result."""
    if finding.error == "CPU":  # they can't distinguish waiting from computing
        return finding.tool, "hang"
    if finding.kind in OUTRIGHT:
        return finding.tool, OUTRIGHT[finding.kind]
    if finding.kind != "crash":
        return None
    if finding.error == "process died":
        return finding.tool, "died"
    place = finding.where.partition(" ")[0]
    return (finding.tool, f"{finding.error} {place}") if finding.frames and place else None


def is_planted(error: Error) -> bool:
    """Whether it is one of the known defects."""
    return error in _planted()


@cache
def _planted() -> frozenset[Error]:
    placed = {(each.tool, f"{each.error} {each.where}") for each in LABELS if each.at}
    outright = {(each.tool, OUTRIGHT[kind]) for each in LABELS for kind in each.kinds if kind in OUTRIGHT}
    died = {(each.tool, "died") for each in LABELS if each.kinds == ("crash",) and not each.error}
    return frozenset(placed | outright | died)


def found_table(effort: Effort) -> str:
    """The number of calls until each planted defect was found, for RESULTS.md."""
    if not PYTHON.exists() or not shutil.which("bwrap"):
        return ""
    calls, more, seeds = effort.size(CALLS), effort.size(MORE_CALLS), effort.times(SEEDS)
    rows = [
        *_found_rows(LABELS, fuzzed(PLANTED, calls, seeds)),
        *_found_rows(DEEP, fuzzed(DEEPER, more, seeds)),
    ]
    title = "Planted defects: after how many calls each was found, seed by seed."
    limit = f"– is not within {calls:,}; those of {', '.join(_FAMILIES)} had {more:,}."
    return "\n".join([f"{title} {limit}", "", "| class | tool | calls |", "|---|---|--:|", *rows])


def _found_rows(labels: Sequence[Label], runs: Sequence[Sequence[ToolReport]]) -> list[str]:
    return [f"| {label.family} | {label.tool} | {_found_in(label, runs)} |" for label in labels]


def _found_in(label: Label, runs: Sequence[Sequence[ToolReport]]) -> str:
    counts = [_first(label, [finding for report in run for finding in report.findings]) for run in runs]
    return ", ".join("–" if count is None else str(count) for count in counts)


def _first(label: Label, findings: Sequence[Finding]) -> int | None:
    same = [
        finding.found_after
        for finding in findings
        if finding.tool == label.tool
        and finding.kind in label.kinds
        and (not label.at or finding.where.startswith(f"{label.where} "))
    ]
    return min(same, default=None)
