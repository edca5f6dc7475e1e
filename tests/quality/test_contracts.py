"""Tools that don't do what they promise are found, each with its quotation; those that do are left in peace."""

import shutil
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.features.tool_fuzz.replay import replay_finding
from tests.quality.contracts import MOST_CALLS, PLANTED, calls_in, fuzz

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is needed: the tools write files"),
]

SEED = 1  # `make bench` tries three
UNQUOTED = (
    "error flag",
    "success flagged",
    "concurrency",
    "cancellation",
    "unlisted tool",
)  # promised by the protocol alone


@pytest.mark.parametrize("server", PLANTED)
def test_broken_promises_are_found_and_replayed(server: str, tmp_path: Path) -> None:
    report = fuzz(tmp_path, server, "planted", SEED)
    assert {(finding.tool, finding.error) for finding in report.findings} == PLANTED[server]
    assert len(report.findings) == len(PLANTED[server])
    assert not report.unconfirmed
    assert calls_in(report) <= MOST_CALLS
    promises = [finding for finding in report.findings if finding.kind == "contract"]
    assert all(each.why.startswith("it promises ") for each in promises if each.error not in UNQUOTED)
    store = Settings(store=str(tmp_path / "store.db"))
    for tool in (
        "show_visits",
        "get_memo",
        "get_document",
        "delete_project",
        "edit_invoice",
        "add_guest",
        "get_page",
    ):
        for found in [finding for finding in report.findings if finding.tool == tool]:
            _, judged = replay_finding(store, report.run, found.id)
            assert (judged.ruling, judged.signature) == (found.kind, found.signature)


@pytest.mark.parametrize("server", PLANTED)
def test_kept_promises_are_no_findings(server: str, tmp_path: Path) -> None:
    report = fuzz(tmp_path, server, "fixed", SEED)
    assert [(finding.tool, finding.error) for finding in report.findings] == []
    assert not report.unconfirmed
    assert calls_in(report) <= MOST_CALLS
