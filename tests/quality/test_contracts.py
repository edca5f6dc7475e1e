"""Tools that don't do what they promise are found, each with its quotation; those that do are left in peace."""

import shutil
import sys
from pathlib import Path

import pytest

from misstep.core.results.finding import FuzzReport
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.replay import replay_finding
from misstep.features.tool_fuzz.run import fuzz_tools

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is needed: the tools write files"),
]

SEEDS = [1]  # each takes a minute
SERVER = Path(__file__).parent / "planted_tools" / "contract_server.py"
PLANTED = {
    "get_settings": "read-only",
    "show_visits": "read-only",
    "get_banner": "read-only",
    "add_entry": "not destructive",
    "archive_report": "not destructive",
    "sort_folder": "not destructive",
    "enable_flag": "idempotent",
    "register_user": "idempotent",
    "follow": "idempotent",
    "import_numbers": "all or nothing",
    "read_note": "read back",
    "get_memo": "read back",
    "load_letter": "read back",
    "get_poster": "read back",
    "get_label": "read back",
    "read_template": "read back",
    "delete_card": "deleted",
    "delete_ticket": "nothing else",
    "update_price": "nothing else",
    "edit_album": "still readable",
    "list_chapters": "listed once",
    "list_tags": "listed once",
    "browse_cities": "pages",
    "browse_rivers": "pages",
    "look_up_height": "error flag",
    "get_temperature": "output schema",
    "choose_seat": "refused arguments",
    "get_document": "path outside",
    "edit_document": "path outside",
    "measure_word": "injection",
    "find_fruit": "injection",
}


def fuzz(folder: Path, version: str, seed: int) -> FuzzReport:
    settings = Settings(
        store=str(folder / "store.db"),
        calls_per_tool=10,
        time_per_tool=400.0,
        timeout=5.0,
        jobs=2,
        seed=seed,
        sandbox="bubblewrap",
    )
    return fuzz_tools(settings, [f"mcp:{sys.executable} {SERVER} {version}"])


@pytest.mark.parametrize("seed", SEEDS)
def test_broken_promises_are_found_and_replayed(seed: int, tmp_path: Path) -> None:
    report = fuzz(tmp_path, "planted", seed)
    assert {finding.tool: finding.error for finding in report.findings} == PLANTED
    assert len(report.findings) == len(PLANTED)
    assert not report.unconfirmed
    promises = [finding for finding in report.findings if finding.kind == "contract"]
    assert all(each.why.startswith("it promises ") for each in promises if each.error != "error flag")
    store = Settings(store=str(tmp_path / "store.db"))
    for tool in ("show_visits", "get_memo", "get_document"):
        (found,) = [finding for finding in report.findings if finding.tool == tool]
        _, judged = replay_finding(store, report.run, found.id)
        assert (judged.ruling, judged.signature) == (found.kind, found.signature)


@pytest.mark.parametrize("seed", SEEDS)
def test_kept_promises_are_no_findings(seed: int, tmp_path: Path) -> None:
    report = fuzz(tmp_path, "mended", seed)
    assert [(finding.tool, finding.error) for finding in report.findings] == []
    assert not report.unconfirmed
