"""Planted defects in tools are found, named and cut down; tools with nothing wrong are left in peace."""

import importlib.util
import json
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.settings import Settings
from tests.quality.planted_tools.labels import (
    ANSWERS_ERRORS,
    DEEP,
    HERE,
    INNOCENT,
    LANGCHAIN,
    PLANTED,
    POSSIBLE,
    SERVED,
    Label,
    modules,
)
from tests.tiers import some_full

CALLS = 300  # for each tool
DEEP_CALLS = {"gate_tools": 500, "room_tools": 1000}
RAISED = [label for label in (*PLANTED, *DEEP) if label.error and label.at]
SLACK = 6  # characters by which arguments may be longer than the smallest that we know
LONG_HISTORIES = ("press_tools",)  # so many calls came before that few are left to make texts shorter with
SLOW_TO_SHRINK = ("RecursionError", "OverflowError")  # what the smallest is depends on the interpreter


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Tools start in a folder of their own, and find each other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(HERE))
    yield tmp_path
    for name in [*modules((*PLANTED, *DEEP)), "innocent_tools"]:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("label", RAISED, ids=[f"{label.tool}-{label.family}" for label in RAISED])
def test_labels_tell_the_truth(folder: Path, label: Label) -> None:
    assert raised_by(label.module, label.calls) == (label.error, label.where)


def test_every_class_of_errors_is_planted() -> None:
    families = {label.family for label in PLANTED}
    paper = {"long input", "prefix", "format", "enum", "relation", "permissions", "encoding", "empty result"}
    assert paper | {"off by one", "stale id", "second call"} <= families
    assert len({label.tool for label in PLANTED}) >= 35


@pytest.mark.parametrize("module", some_full(modules(), lambda module: module != "state_tools"))
def test_planted_defects_are_found(folder: Path, module: str) -> None:
    labels = [label for label in PLANTED if label.module == module]
    assert_found_and_small(fuzz(folder, labels[0].spec), labels)


@pytest.mark.parametrize("module", some_full(modules(DEEP), lambda module: module != "shop_tools"))
def test_defects_behind_several_gates_or_calls_are_found(folder: Path, module: str) -> None:
    labels = [label for label in DEEP if label.module == module]
    calls = DEEP_CALLS.get(module, CALLS)
    assert_found_and_small(fuzz(folder, labels[0].spec, calls_per_tool=calls, seed=1), labels)


@pytest.mark.full
def test_innocent_tools_give_no_finding(tmp_path: Path) -> None:
    report = fuzz(tmp_path, INNOCENT, time_per_tool=4.0)
    assert _told(report.findings) == []
    missing_key = next(tool for tool in report.tools if tool.name == "forecast")
    no_network = next(tool for tool in report.tools if tool.name == "quote")
    assert no_network.environment > 0
    assert missing_key.refused + missing_key.environment == missing_key.calls


@pytest.mark.full
def test_the_same_defects_behind_langchain(tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    report = fuzz(tmp_path, f"{HERE / 'langchain_tools.py'}:tools")
    assert_found(report, LANGCHAIN)
    assert_nothing_else(report, LANGCHAIN)


@pytest.mark.full
@pytest.mark.parametrize("server", sorted(SERVED))
def test_the_same_defects_behind_a_server(tmp_path: Path, server: str) -> None:
    # A server that dies is started again and again, which takes long where others are at work.
    patience = {"timeout": 5.0, "time_per_tool": 120.0}
    report = fuzz(tmp_path, f"mcp:{sys.executable} {HERE / server}.py", calls_per_tool=60, **patience)
    assert_found(report, SERVED[server])
    assert_nothing_else(report, SERVED[server])
    flagged = {finding.tool for finding in report.findings if finding.error == "error flag"}
    assert flagged == ({*ANSWERS_ERRORS} if server == "mcp_server" else set())


def fuzz(folder: Path, spec: str, **changes: object) -> FuzzReport:
    """What the fuzzer finds in a process of its own, within bubblewrap."""
    fuzzing = pytest.importorskip("misstep.features.tool_fuzz.run")
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is needed: some of the tools take their process down, or all memory")
    settings = Settings(
        store=str(folder / "store.db"),
        calls_per_tool=CALLS,
        time_per_tool=30.0,
        timeout=1.0,
        memory=512,
        jobs=2,
        sandbox="bubblewrap",
    )
    report: FuzzReport = fuzzing.fuzz_tools(settings.overlay(changes), [spec])
    return report


def assert_found_and_small(report: FuzzReport, labels: Sequence[Label]) -> None:
    assert_found(report, labels)
    assert_nothing_else(report, labels)
    assert_small(report, labels)
    for label in set(labels) & set(RAISED):
        assert_shown(label, _found(report, label))


def assert_found(report: FuzzReport, labels: Sequence[Label]) -> None:
    missed = [f"{label.tool}: {label.family}" for label in labels if not _found(report, label)]
    assert not missed, f"missed {missed}; found {_told(report.findings)}"


def assert_nothing_else(report: FuzzReport, labels: Sequence[Label]) -> None:
    extra = [
        finding
        for finding in report.findings
        if not any(_fits(finding, label) for label in labels)
        and not {(finding.tool, finding.error), (finding.tool, finding.kind)} & POSSIBLE
    ]
    assert not extra, _told(extra)


def assert_small(report: FuzzReport, labels: Sequence[Label]) -> None:
    for label in labels:
        finding = _found(report, label)
        assert finding
        told = _told([finding])
        assert len(finding.calls) <= len(label.calls), told
        slack = label.size if label.module in LONG_HISTORIES else 0
        slack += label.size // 3 if label.error in SLOW_TO_SHRINK else SLACK * len(label.calls)
        assert sum(len(call.arguments) for call in finding.calls) <= label.size + slack, told


def assert_shown(label: Label, finding: Finding | None) -> None:
    """The calls of a finding show the defect, from a fresh start and by themselves."""
    assert finding
    calls = [(call.tool, call.arguments) for call in finding.calls]
    assert raised_by(label.module, calls) == (label.error, label.where), _told([finding])


def raised_by(name: str, calls: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The type of the exception that the last call ends in, and its place in the tools' own code."""
    module = _load(name)
    *before, (last, arguments) = calls
    for tool, given in before:
        getattr(module, tool)(**json.loads(given))
    try:
        getattr(module, last)(**json.loads(arguments))
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename.startswith(str(HERE))]
        kind = type(error).__name__.replace("PatternError", "error")
        return kind, f"{Path(own[-1].filename).name}:{own[-1].lineno}"
    return "", ""


def _found(report: FuzzReport, label: Label) -> Finding | None:
    return next((finding for finding in report.findings if _fits(finding, label)), None)


def _fits(finding: Finding, label: Label) -> bool:
    """Whether it is the planted defect: its tool, its kind, and its type and place where they can be seen."""
    if finding.tool != label.tool or finding.kind not in label.kinds:
        return False
    if label.error and label.error not in (finding.error, finding.error.replace("PatternError", "error")):
        return False
    return not label.at or f"{finding.where} ".startswith(f"{label.where} ")


def _told(findings: Sequence[Finding]) -> list[str]:
    return [
        f"{each.tool}: {each.kind} {each.error} at {each.where}, {each.why} "
        f"{[(call.tool, call.arguments[:200]) for call in each.calls]}"
        for each in findings
    ]


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
