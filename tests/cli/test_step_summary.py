"""What is added to the summary of a job on GitHub."""

from pathlib import Path

import pytest

from tests.conftest import Command

PLAN = ("plan", "test", "--agent", "sim:greedy", "--seed", "1", "--count", "20", "--display", "none")


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "step.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def test_every_run_is_added(misstep: Command, summary: Path, tmp_path: Path) -> None:
    assert misstep(*PLAN).code == 1
    (tmp_path / "shop.py").write_text('def find(query: str) -> int:\n    """Find."""\n    return {}[query]\n')
    misstep(
        "tool", "fuzz", "shop.py:find", "--calls-per-tool", "20", "--sandbox", "none", "--display", "none"
    )
    misstep("tool", "lint", "shop.py:find", "--calls-per-tool", "20", "--sandbox", "none")
    text = summary.read_text()
    assert text.startswith("before\n### ❌ misstep plan test: failed\n")
    headings = [line for line in text.splitlines() if line.startswith("###")]
    assert [line.split(": ")[0] for line in headings] == [
        "### ❌ misstep plan test",
        "### ❌ misstep tool fuzz",
        "### ❌ misstep tool lint",
    ]
    assert not (tmp_path / "misstep-report").exists()


def test_it_can_be_switched_off(misstep: Command, summary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misstep(*PLAN, "--no-step-summary")
    monkeypatch.setenv("MISSTEP_STEP_SUMMARY", "false")
    misstep(*PLAN)
    assert summary.read_text() == "before\n"


def test_a_stored_run_is_not_added_twice(misstep: Command, summary: Path) -> None:
    misstep(*PLAN)
    once = summary.read_text()
    misstep("report", "last", "--report", "md")
    assert summary.read_text() == once


def test_a_summary_that_can_not_be_written_is_no_failure(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    printed = misstep(*PLAN, "--fail-on", "none", "--json")
    assert printed.code == 0
    assert "$GITHUB_STEP_SUMMARY can't be written: Is a directory" in printed.err


def test_no_key_is_added(
    misstep: Command, summary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "s3cr3t-key-0123")
    (tmp_path / "shop.py").write_text(
        'import os\n\n\ndef find(query: str) -> int:\n    """Find."""\n'
        '    raise KeyError(os.environ.get("SERVICE_API_KEY", "s3cr3t-key-0123"))\n'
    )
    misstep(
        "tool", "fuzz", "shop.py:find", "--calls-per-tool", "20", "--sandbox", "none", "--display", "none"
    )
    assert "[secret]" in summary.read_text()
    assert "s3cr3t" not in summary.read_text()
