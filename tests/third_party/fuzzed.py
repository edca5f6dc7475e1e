"""How tools of other people, who may do anything, are fuzzed."""

import shutil
from pathlib import Path

import pytest

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.settings import Settings

HERE = Path(__file__).parent


def fuzz(folder: Path, spec: str, **changes: object) -> FuzzReport:
    """What the fuzzer finds within bubblewrap; a name alone is that of a module beside this file."""
    fuzzing = pytest.importorskip("misstep.features.tool_fuzz.run")
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is needed: what these tools do can't be known")
    if not spec.startswith("mcp:"):
        spec = f"{HERE / spec}.py:tools"
    settings = Settings(
        store=str(folder / "store.db"),
        time_per_tool=30.0,
        timeout=3.0,
        memory=512,
        jobs=2,
        sandbox="bubblewrap",
    )
    report: FuzzReport = fuzzing.fuzz_tools(settings.overlay(changes), [spec])
    return report


def missed(report: FuzzReport, expected: dict[str, set[str]]) -> dict[str, set[str]]:
    """The errors that were to be found and were not, by the tool."""
    found = {tool.name: {finding.error for finding in tool.findings} for tool in report.tools}
    lacking = {name: errors - found.get(name, set()) for name, errors in expected.items()}
    return {name: errors for name, errors in lacking.items() if errors}


def told(findings: list[Finding] | tuple[Finding, ...]) -> list[tuple[str, str, str, str]]:
    """Findings as one wants to read them where there should be none."""
    return [(each.tool, each.kind, each.error, f"{each.message[:100]} {each.calls}") for each in findings]
