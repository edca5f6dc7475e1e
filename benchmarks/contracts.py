"""Measures how many planted contract faults of MCP servers are found, with three seeds."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row
from misstep.core.results.fuzzing import FuzzReport
from tests.quality.contracts import MOST_CALLS, PLANTED, calls_in, fuzz

SEEDS = 3
FOUND = "planted contract faults of servers found"
FALSE = "findings on the same servers without faults"
CALLS = "calls of a server, the most"
MARKS = {FOUND: Mark("≥", 100), FALSE: Mark("≤", 0), CALLS: Mark("≤", MOST_CALLS)}


def contract_rows(effort: Effort) -> Iterator[Row]:
    if not shutil.which("bwrap"):
        yield from (Row(what, None, "", "needs bubblewrap", mark) for what, mark in MARKS.items())
        return
    seeds = range(1, effort.times(SEEDS) + 1)
    planted = {(server, seed): _fuzzed(server, "planted", seed) for server in PLANTED for seed in seeds}
    fixed = [_fuzzed(server, "fixed", seed) for server in PLANTED for seed in seeds]
    found = sum(len(PLANTED[server] & _errors(report)) for (server, _), report in planted.items())
    wanted = sum(map(len, PLANTED.values()))
    how = f"{wanted} faults of {len(PLANTED)} servers, {len(seeds)} seeds"
    yield Row(FOUND, 100 * found / (wanted * len(seeds)), "%", how, MARKS[FOUND])
    yield Row(FALSE, sum(len(each.findings) for each in fixed), "", f"{len(fixed)} runs", MARKS[FALSE])
    most = max(map(calls_in, [*planted.values(), *fixed]))
    yield Row(CALLS, most, "", "of one run, confirmation and shrinking included", MARKS[CALLS])


def _fuzzed(server: str, version: str, seed: int) -> FuzzReport:
    with tempfile.TemporaryDirectory() as folder:
        return fuzz(Path(folder), server, version, seed)


def _errors(report: FuzzReport) -> set[tuple[str, str]]:
    return {(finding.tool, finding.error) for finding in report.findings}
