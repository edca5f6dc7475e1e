"""Tools that need what others have returned, such as the id of a session: they are reached, and findings replay."""

import shutil
import sys
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.features.tool_fuzz.issues.messages import messages_of
from misstep.features.tool_fuzz.replay import replay_finding
from tests.conftest import Command
from tests.features.tool_fuzz.test_issues import TO_STDOUT, run_script, script_in
from tests.quality.test_tools import fuzz

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is needed: servers run in it"),
]

SERVERS = Path(__file__).parent / "planted_tools"
CALLS = 40


@pytest.mark.parametrize("seed", [1, 2])
def test_tools_get_ids_that_others_returned_just_before(seed: int, tmp_path: Path, misstep: Command) -> None:
    command = f"{sys.executable} {SERVERS / 'session_server.py'}"
    report = fuzz(
        tmp_path, f"mcp:{command}", calls_per_tool=CALLS, time_per_tool=120.0, timeout=5.0, seed=seed
    )
    alone = [tool for tool in report.tools if not tool.name.endswith("(together)")]
    few = {tool.name: tool.accepted for tool in alone if tool.accepted * 2 < tool.calls}
    assert few == {}
    assert {tool.name for tool in alone} >= {"open_session", "add_row", "show_row", "close_session"}
    (finding,) = report.findings
    assert [call.tool for call in finding.calls] == ["open_session", "count_word"]
    assert '"${result.session_id}"' in finding.calls[-1].arguments
    assert messages_of(finding.calls, True) == ""
    _, judged = replay_finding(Settings(store=str(tmp_path / "store.db")), report.run, finding.id)
    assert (judged.ruling, judged.signature) == (finding.kind, finding.signature)
    text = misstep("report", report.run, "--store", str(tmp_path / "store.db"), *TO_STDOUT).out
    shutil.copy(SERVERS / "session_server.py", tmp_path)
    shutil.copy(SERVERS / "contract_tools.py", tmp_path)
    shown = run_script(
        script_in(text).replace(f'"{Path(sys.executable).name}"', repr(sys.executable)), tmp_path
    )
    assert "list index out of range" in shown.stdout
