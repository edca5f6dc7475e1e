"""Planted faults of documentation are found through the whole pipeline; their repaired twins are silent."""

import ast
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import pytest

from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ReachAttempt, ToolReport
from misstep.features.consistency.run import check_consistency
from misstep.features.lint.run import lint_tools
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.fuzzing.lint.subject import Remark
from tests.fuzzing.agent_tests.scripted_roles import settings_for
from tests.quality.planted_documents.labels import HERE, LABELS, Label
from tests.quality.reader_model import ReaderModel

CALLS = 40  # of each tool
LIMITS: dict[str, Any] = {"calls_per_tool": CALLS, "timeout": 5.0, "jobs": 1, "sandbox": "none", "count": 1}
ALL_WRONG = tuple(label.tool for label in LABELS if label.fault == "ill")  # alike for all requests, perhaps
IDS = [f"{label.tool}-{label.what.replace(' ', '-')}" for label in LABELS]

COLUMNS = ("runtime", "consistency", "judge", "lint")
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-is-found.md"

Side = Literal["faulty", "repaired"]


class Seen(msgspec.Struct, frozen=True):
    """What each way has to say about one tool."""

    report: ToolReport
    asked: dict[str, ConsistencyReport]
    remarks: tuple[Remark, ...]

    @property
    def reached(self) -> list[Finding]:
        """What natural requests have led to."""
        return [finding for finding in self.report.findings if finding.request]

    @property
    def passages(self) -> tuple[ReachAttempt, ...]:
        return self.report.journey.passages if self.report.journey else ()

    @property
    def is_undecided(self) -> bool:
        """Whether a model or the agent gave nothing that could be judged."""
        verdicts = {report.verdict for report in self.asked.values()}
        return "inconclusive" in verdicts | {passage.fate for passage in self.passages}

    def ways(self) -> set[str]:
        """Those by which there is something to say."""
        found = {way for way, each in self.asked.items() if each.verdict == "failed"}
        return found | ({"runtime"} if self.reached else set()) | ({"lint"} if self.remarks else set())


@pytest.mark.full
def test_every_fault_is_found_as_what_it_is() -> None:
    seen = look("faulty")
    assert {label.tool: told(seen[label.tool]) for label in LABELS if not is_as_labelled(seen, label)} == {}


@pytest.mark.full
def test_every_repaired_twin_is_silent() -> None:
    seen = look("repaired")
    loud = {name: told(each) for name, each in seen.items() if each.ways() or each.is_undecided}
    assert loud == {}
    assert set(seen) == {label.tool for label in LABELS}


@pytest.mark.parametrize("label", LABELS, ids=IDS)
def test_twins_differ_in_nothing_but_documentation(label: Label) -> None:
    alike = code_of("faulty", label) == code_of("repaired", label)
    assert alike is not label.code


def test_every_class_of_faults_is_planted() -> None:
    assert {label.fault for label in LABELS} == {"under", "over", "ill"}
    assert {way for label in LABELS for way in label.ways} == {"runtime", "consistency", "judge", "lint"}
    assert len({label.tool for label in LABELS}) == len(LABELS)


def test_the_table_in_the_documents_says_so() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` (\|.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    for label in LABELS:
        fault, what, *cells = [cell.strip() for cell in rows.pop(label.tool).split("|")[1:]]
        found = {way for way, cell in zip(COLUMNS, cells, strict=True) if cell}
        assert (fault, what, found) == (label.fault, label.what, set(label.ways))
    assert not rows


def look(side: Side) -> dict[str, Seen]:
    """Every tool of a side, put to every way of finding something."""
    spec = [f"{HERE / side}.py:tools"]
    with ReaderModel().server as server, TemporaryDirectory() as folder:
        settings = settings_for(server.base_url, **LIMITS, store=str(Path(folder) / "store.db"))
        fuzzed = fuzz_tools(settings, spec)
        linted = lint_tools(settings, spec, fuzzed.run)
        judged = settings.overlay({"checks": ("judge",), "only": ALL_WRONG})
        asked = {"consistency": check_consistency(settings, spec), "judge": check_consistency(judged, spec)}
    remarks = {tool.name: tool.remarks for tool in linted.tools}
    answers = dict[str, dict[str, ConsistencyReport]]()
    for way, run in asked.items():
        for report in run.tools:
            answers.setdefault(report.name, {})[way] = report
    reports = {report.name: report for report in fuzzed.tools}
    together = [report for name, report in reports.items() if name not in answers]
    assert not any(finding.request for report in together for finding in report.findings)
    return {name: Seen(reports[name], answers[name], remarks[name]) for name in answers}


def is_as_labelled(seen: dict[str, Seen], label: Label) -> bool:
    """Whether a fault is found by its ways and no others, each naming it once and nothing beside it."""
    found = seen[label.tool]
    errors = [(label.error, place_of(label))] if "runtime" in label.ways else []
    remarks = [(*label.remark, label.fault)] if "lint" in label.ways else []
    return (
        found.ways() == set(label.ways)
        and not found.is_undecided
        and [(each.error, each.where) for each in found.reached] == errors
        and [(each.rule, each.where, each.fault) for each in found.remarks] == remarks
    )


def place_of(label: Label) -> str:
    """The place of a fault as findings name it."""
    lines = (HERE / "faulty.py").read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if label.at in line] if label.at else [0]
    return f"faulty.py:{number} in {label.tool}"


def code_of(side: Side, label: Label) -> str:
    """What a tool does, without what it says about itself."""
    tree = ast.parse((HERE / f"{side}.py").read_text(encoding="utf-8"))
    (tool,) = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == label.tool]
    constants = [each for each in tree.body if isinstance(each, ast.Assign)]
    return "\n".join(ast.unparse(each) for each in (*constants, *tool.args.defaults, *tool.body[1:]))


def told(seen: Seen) -> str:
    """All that there is to say about a tool, for whoever has to find out why."""
    return "\n".join(
        [
            *(f"{each.kind} {each.error} at {each.where}: {each.calls}" for each in seen.report.findings),
            *(f"{each.finding} {each.fate} {each.why} {each.requests}" for each in seen.passages),
            *(
                f"{way}: {made.verdict}, {made.why} {made.buckets}"
                for way, each in seen.asked.items()
                for made in each.sets
            ),
            *map(str, seen.remarks),
        ]
    )


def table(seen: dict[str, Seen]) -> str:
    """Which fault is found by which way, and what that took."""
    rows = [
        "| tool | class | what is wrong | run time | consistency | judge alone | lint |",
        "|---|---|---|---|---|---|---|",
    ]
    for label in LABELS:
        cells = [cost(seen[label.tool], way) for way in COLUMNS]
        rows.append(f"| {' | '.join([f'`{label.tool}`', label.fault, label.what, *cells])} |")
    return "\n".join(rows)


def cost(seen: Seen, way: str) -> str:
    """Calls of the tool and tokens that a way has taken; empty where it has found nothing."""
    if way not in seen.ways():
        return ""
    if way == "lint":
        return f"{seen.report.calls} calls"
    if way != "runtime":
        return f"{seen.asked[way].calls} calls, {seen.asked[way].tokens:,} tokens"
    journey = seen.report.journey
    assert journey
    tokens = sum(usage.input + usage.output for usage in journey.usage.values())
    calls = seen.report.calls + seen.report.triage_calls + journey.calls
    return f"{calls} calls, {tokens:,} tokens"


if __name__ == "__main__":
    print(table(look("faulty")))
