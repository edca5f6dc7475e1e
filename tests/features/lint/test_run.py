"""Tools are called for evidence: planted faults are found, their repaired twins are silent."""

import shutil
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.features.lint.run import lint_tools
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.fuzzing.lint.subject import LintReport, Remark
from tests.features.lint import planted, planted_seen

SPEC = f"{planted.__file__}:tools"
SETTINGS = Settings(calls_per_tool=40, timeout=5.0, jobs=2, sandbox="none")


@pytest.fixture(scope="module")
def report() -> LintReport:
    return lint_tools(SETTINGS, [SPEC])


def remarks(report: LintReport, name: str) -> list[Remark]:
    return next(list(tool.remarks) for tool in report.tools if tool.name == name)


@pytest.mark.parametrize("name", planted.FAULTY)
def test_a_fault_is_found(report: LintReport, name: str) -> None:
    rule, fault, where = planted.FAULTY[name]
    marks = [(each.rule, each.fault) for each in remarks(report, name)]
    assert marks == [(rule, fault)]
    assert remarks(report, name)[0].where in (
        where,
        "parameters",
    )  # all of them, where several may be to blame


def test_everything_else_is_silent(report: LintReport) -> None:
    loud = {
        tool.name: tool.remarks for tool in report.tools if tool.remarks and tool.name not in planted.FAULTY
    }
    assert loud == {}
    assert len(report.tools) > len(planted.FAULTY) * 2


def test_evidence_is_the_call_and_the_words(report: LintReport) -> None:
    (remark,) = remarks(report, "book_faulty")
    hidden = "start and end depend on each other, which is not documented"
    assert remark.message == f"{hidden}: end must come after start"
    assert remark.evidence.endswith("→ ValueError: end must come after start")
    assert '"start": ' in remark.evidence


@pytest.mark.full
def test_the_same_seed_says_the_same() -> None:
    only = SETTINGS.overlay({"only": ("tip_faulty", "week_faulty"), "calls_per_tool": 20})
    assert lint_tools(only, [SPEC]) == lint_tools(only, [SPEC])


def test_a_run_of_the_fuzzer_will_do(tmp_path: Path) -> None:
    shutil.copy(planted.__file__, tmp_path / "mine.py")
    spec, store = f"{tmp_path / 'mine.py'}:tools", str(tmp_path / "store.db")
    only = SETTINGS.overlay({"only": ("book_faulty", "book_repaired"), "calls_per_tool": 20, "store": store})
    run = fuzz_tools(only, [spec]).run
    report = lint_tools(only, [spec], run)
    assert [(tool.name, len(tool.remarks)) for tool in report.tools] == [
        ("book_faulty", 1),
        ("book_repaired", 0),
    ]
    assert report.notes == ()
    other = lint_tools(only.overlay({"only": ("tip_faulty",)}), [spec], run)
    assert other.notes == (f"tip_faulty: run {run} has no data on it",)


@pytest.fixture(scope="module")
def seen() -> LintReport:
    return lint_tools(SETTINGS, [f"{planted_seen.__file__}:tools"])


@pytest.mark.full
@pytest.mark.parametrize("name", planted_seen.FAULTY)
def test_what_no_source_shows_is_seen(seen: LintReport, name: str) -> None:
    (remark,) = remarks(seen, name)
    assert (remark.rule, remark.fault, remark.where) == ("choices", "under", planted_seen.FAULTY[name])
    assert remark.evidence.endswith(", seen while it was called")


@pytest.mark.full
def test_what_is_told_or_no_choice_is_not_remarked_on(seen: LintReport) -> None:
    loud = {tool.name: tool.remarks for tool in seen.tools if tool.name not in planted_seen.FAULTY}
    assert {name: remarks for name, remarks in loud.items() if remarks} == {}
    assert len(loud) > len(planted_seen.FAULTY)
