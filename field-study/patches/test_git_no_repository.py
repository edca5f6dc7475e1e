"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_git_log_exception_without_words_56064d4773() -> None:
    calls = [("git_log", {"repo_path": "0"})]
    judged = replay_calls("mcp:uvx --from mcp-server-git==2026.10.19 mcp-server-git", calls, SETTINGS)
    # When this was written: crash, exception without words
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
