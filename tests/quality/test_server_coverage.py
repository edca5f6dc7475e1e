"""A defect that no reply leads to is found by what runs inside the server, and not without that."""

import shutil
import sys
from pathlib import Path

import pytest

from misstep.core.results.fuzzing import ToolReport
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.run import fuzz_tools

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is needed: servers run in it"),
]

PLANTED = Path(__file__).parent / "planted_tools"
MODULES = Path(__file__).parents[2] / ".venv-servers" / "node_modules"
NODE = f"node {PLANTED}/chain_server.mjs {MODULES}"
SERVERS = [
    f"{sys.executable} {PLANTED}/chain_server.py",
    pytest.param(NODE, marks=pytest.mark.skipif(not MODULES.exists(), reason="make test-all installs it")),
]


def fuzz(folder: Path, command: str) -> ToolReport:
    settings = Settings(
        store=str(folder / "store.db"),
        calls_per_tool=400,
        time_per_tool=400.0,
        seed=3,
        sandbox="bubblewrap",
        allow_read=(str(MODULES),) if MODULES.exists() else (),
    )
    (tool,) = fuzz_tools(settings, [f"mcp:{command}"]).tools
    return tool


@pytest.mark.parametrize("command", SERVERS)
def test_a_defect_behind_conditions_is_found_by_coverage(command: str, tmp_path: Path) -> None:
    tool = fuzz(tmp_path, command)
    assert [finding.kind for finding in tool.findings] == ["crash"]
    assert tool.reach is not None
    assert tool.reach.lines >= 6
    assert all(each.startswith("chain_server") for each in tool.reach.missed)
    blind = fuzz(tmp_path / "blind", f"env -u _MISSTEP_COVERAGE {command}")
    assert (blind.findings, blind.unconfirmed, blind.reach) == ((), (), None)
